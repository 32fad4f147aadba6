"""The Protocols around the proxy: bytes, names, addresses, and who decides.

The proxy itself decides nothing and knows no policy file: it turns what a program in the box sends
into EgressRequests, asks the Gatekeeper, and carries out what was admitted, and only that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from orchestrator.schema.egress import Caller, EgressRequest, EgressVerdict, Traffic


class ByteStream(Protocol):
    """A connection. One task may send while another receives."""

    async def receive(self) -> bytes:
        """Return what came next; empty when nothing more will. OSError when it broke."""
        ...

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Send as the other end takes it, ``last`` to say that no more follows."""
        ...

    async def close(self) -> object:
        """Let go of it, at once; may be called twice."""
        ...


class ResolveError(OSError):
    """A name has no address, or nobody could say."""


class Resolver(Protocol):
    """Turns a name into addresses; asked once a connection, and only for a name that is allowed."""

    async def resolve(self, host: str) -> Sequence[str]:
        """Return its addresses, IPv4 or IPv6, in the order to try; ResolveError without any."""
        ...


class Dialer(Protocol):
    """Opens connections to addresses that were checked."""

    async def dial(self, address: str, port: int) -> ByteStream:
        """Return an open connection to exactly this address; OSError where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Admission:
    """The answer to one request: ``verdict.decision.effect`` is ``allow`` or ``deny``, never ``ask``."""

    id: int
    request: EgressRequest
    verdict: EgressVerdict
    generation: int
    """Of the rules that it was judged by."""
    answered_by: str | None = None

    @property
    def allowed(self) -> bool:
        """Whether it may be carried out."""
        return self.verdict.decision.effect == "allow"


class Gatekeeper(Protocol):
    """Judges, asks a person where policy says so, and records; whatever fails in it is a no."""

    async def admit(self, request: EgressRequest, caller: Caller | None) -> Admission:
        """Return the answer, recorded before it is returned; never raises."""
        ...

    def still_allows(self, admission: Admission) -> bool:
        """Say whether the rules that are in force now would still let this pass without asking."""
        ...

    def passed(self, admission: Admission, traffic: Traffic) -> None:
        """Take note of the end of what was admitted."""
        ...


class Secrets(Protocol):
    """Values of secrets, by reference; they never leave the host but by injection."""

    def value(self, reference: str) -> str:
        """Return the value; LookupError, with a text that is safe to show, where there is none."""
        ...
