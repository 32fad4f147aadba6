"""The Protocols around the proxy: bytes, names, addresses, and who decides.

The proxy itself decides nothing and knows no policy file: it turns what a program in the box sends
into EgressRequests, asks the Gatekeeper, and carries out what was admitted, and only that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import Caller, EgressRequest, EgressVerdict, Scheme, Traffic

Headers: TypeAlias = tuple[tuple[bytes, bytes], ...]
"""Names and values as they are sent, in order."""


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


class UpstreamProxy(Protocol):
    """A company's proxy around the host, which connections leave by instead of straight away."""

    def looks_up(self, host: str) -> bool:
        """Say whether this name is given to it as it is, so that its address is its affair."""
        ...

    def carries(self, host: str, address: str) -> bool:
        """Say whether a connection for ``host`` to this checked address goes by it."""
        ...

    async def dial(self, target: str, port: int) -> ByteStream:
        """Return a connection through it, in time; UpstreamProxyError, or another OSError."""
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

    def tunnel_scheme(self, host: str, port: int) -> Scheme:
        """Say what a tunnel to this place is read as, by the rules that name it.

        ``tcp`` where only rules of that scheme do, ``http`` where only rules of that one do, and
        else ``https``, also where none does. Nothing is decided, recorded or asked.
        """
        ...

    def still_allows(self, admission: Admission) -> bool:
        """Say whether the rules that are in force now would still let this pass without asking."""
        ...

    def passed(self, admission: Admission, traffic: Traffic) -> None:
        """Take note of the end of what was admitted."""
        ...


class Recorder(Protocol):
    """Keeps what was refused before it could be judged: it has no one meaning to judge."""

    async def refused(
        self, request: EgressRequest, decision: Decision, caller: Caller | None
    ) -> None:
        """Put a refusal on record, as far as it could be read; never raises."""
        ...


class Secrets(Protocol):
    """Values of secrets, by reference; they never leave the host but by injection."""

    def value(self, reference: str) -> str:
        """Return the value; LookupError, with a text that is safe to show, where there is none."""
        ...


class Tls(Protocol):
    """TLS of the session: its authority in memory towards the box, the host's store upstream."""

    async def terminate(self, stream: ByteStream, host: str) -> ByteStream:
        """Be the server ``host`` towards the box, with http/1.1 alone; TlsError or OSError."""
        ...

    async def connect(self, stream: ByteStream, host: str) -> ByteStream:
        """Be a client of ``host``, verified by name and store, with http/1.1 alone; or TlsError."""
        ...


class Onlooker(Protocol):
    """Looks on while one request is answered; it never changes a byte of the answer."""

    def request(self, headers: Headers) -> Headers:
        """Return the headers to send: less what would make the answer one that cannot be read."""
        ...

    def response(self, status: int, headers: Headers) -> None:
        """Take note of the final answer's head."""
        ...

    def data(self, chunk: bytes) -> None:
        """Take note of a part of the body, without its transfer coding."""
        ...

    async def end(self, *, whole: bool) -> None:
        """Take note of the end, before the client gets it: its next request may build on it."""
        ...


class ExchangeWatch(Protocol):
    """Says which exchanges are looked at."""

    def watch(self, admission: Admission) -> Onlooker | None:
        """Return who looks at the answer to this request; None for nobody."""
        ...
