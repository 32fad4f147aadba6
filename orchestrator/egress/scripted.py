"""Shipped stand-ins for the seams around the proxy: who decides, names, addresses.

They keep the contracts of ``seams``, and record what they were asked. None of them opens a
connection to anything but 127.0.0.1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import anyio
from anyio import lowlevel

from orchestrator.egress.memory import MemoryStream, stream_pair
from orchestrator.egress.seams import Admission, ByteStream, ResolveError
from orchestrator.egress.sockets import AddressDialer
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import Caller, EgressRequest, EgressVerdict, Scheme, Terms, Traffic

Judge: TypeAlias = Callable[[EgressRequest], EgressVerdict]

SCHEMES: tuple[Scheme, ...] = ("https", "http", "tcp")


@dataclass(frozen=True, slots=True)
class Let:
    """A rule of a scripted gatekeeper: what it names is allowed, and nothing else."""

    host: str
    scheme: str = "https"
    port: int | None = None
    """None is the scheme's usual port."""
    methods: tuple[str, ...] = ()
    """Empty is any, and tunnels."""
    prefix: str = ""
    """Of the path."""
    upgrade: bool = False
    terms: Terms = field(default_factory=Terms)

    def matches(self, request: EgressRequest) -> bool:
        """Say whether the request is what this rule names."""
        port = self.port if self.port is not None else {"http": 80}.get(self.scheme, 443)
        asked = request.method is None or not self.methods or request.method in self.methods
        return (
            request.host == self.host
            and (request.door == "dns" or (request.scheme == self.scheme and request.port == port))
            and asked
            and (request.method is None or request.path.startswith(self.prefix))
            and (self.upgrade or not request.upgrade)
        )


def judge_by(rules: Sequence[Let]) -> Judge:
    """Return a judge that allows what a rule names, with that rule's terms."""

    def judge(request: EgressRequest) -> EgressVerdict:
        for number, rule in enumerate(rules, start=1):
            if rule.matches(request):
                said = Decision("allow", f"rule-{number}", "session", "a rule names it")
                return EgressVerdict(said, rule.terms)
        return EgressVerdict(Decision("deny", "unmatched", "floor", "no rule names it"))

    return judge


class ScriptedGatekeeper:
    """A Gatekeeper that follows ``judge``; assign another one to change the rules."""

    def __init__(self, judge: Judge | Sequence[Let] = ()) -> None:
        """Judge by a function, or by rules; without any, nothing is allowed."""
        self.judge: Judge = judge if callable(judge) else judge_by(judge)
        self.generation = 1
        self.admitted: list[Admission] = []
        self.callers: list[Caller | None] = []
        self.ended: list[tuple[Admission, Traffic]] = []
        self.unreadable: list[tuple[EgressRequest, Decision]] = []
        self.hold: anyio.Event | None = None
        """Assign one to let every question wait for it, as for a person."""

    async def admit(self, request: EgressRequest, caller: Caller | None) -> Admission:
        """Answer and keep the answer; an ``ask`` is a no."""
        await lowlevel.checkpoint()
        if self.hold is not None:
            await self.hold.wait()
        verdict = self.judge(request)
        answer = Admission(len(self.admitted) + 1, request, verdict, self.generation)
        self.admitted.append(answer)
        self.callers.append(caller)
        return answer

    def tunnel_scheme(self, host: str, port: int) -> Scheme:
        """Return the first of https, http, tcp that would be let; https where none is."""
        for scheme in SCHEMES:
            asked = EgressRequest("connect", scheme, host, port)
            if self.judge(asked).decision.effect == "allow":
                return scheme
        return "https"

    def still_allows(self, admission: Admission) -> bool:
        """Judge it again."""
        return self.judge(admission.request).decision.effect == "allow"

    def passed(self, admission: Admission, traffic: Traffic) -> None:
        """Keep the end."""
        self.ended.append((admission, traffic))

    async def refused(
        self,
        request: EgressRequest,
        decision: Decision,
        caller: Caller | None,  # noqa: ARG002 - the seam's
    ) -> None:
        """Keep what could not be judged, as a Recorder."""
        await lowlevel.checkpoint()
        self.unreadable.append((request, decision))


class ScriptedResolver:
    """A Resolver that answers from a table; ``asked`` holds each look-up."""

    def __init__(
        self,
        names: Mapping[str, Sequence[str]],
        *,
        turns: Mapping[str, Sequence[Sequence[str]]] | None = None,
    ) -> None:
        """Answer from ``names``; a name in ``turns`` has another answer at each look-up."""
        self._names = dict(names)
        self._turns = {name: deque(answers) for name, answers in (turns or {}).items()}
        self.asked: list[str] = []

    async def resolve(self, host: str) -> Sequence[str]:
        """Return the next answer for a name; ResolveError without one."""
        await lowlevel.checkpoint()
        self.asked.append(host)
        turns = self._turns.get(host)
        found = turns.popleft() if turns else self._names.get(host)
        if not found:
            raise ResolveError(f"{host} has no address")
        return list(found)


class ScriptedDialer:
    """A Dialer that knows where addresses really lead: a port of 127.0.0.1, or memory.

    ``dialled`` holds each attempt; ``accept`` returns the far ends of connections in memory.
    """

    def __init__(self, places: Mapping[tuple[str, int], int | None]) -> None:
        """Lead each address and port to a port of 127.0.0.1, or with None to memory."""
        self.places = dict(places)
        self.dialled: list[tuple[str, int]] = []
        self._far: deque[MemoryStream] = deque()
        self._arrived = anyio.Event()

    async def dial(self, address: str, port: int) -> ByteStream:
        """Return a connection; ConnectionRefusedError for an address that leads nowhere."""
        await lowlevel.checkpoint()
        self.dialled.append((address, port))
        if (address, port) not in self.places:
            raise ConnectionRefusedError(f"nothing listens at {address} port {port}")
        real = self.places[address, port]
        if real is not None:
            return await AddressDialer().dial("127.0.0.1", real)
        near, far = stream_pair()
        self._far.append(far)
        self._arrived.set()
        return near

    async def accept(self) -> MemoryStream:
        """Return the far end of the next connection that leads to memory."""
        while not self._far:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        return self._far.popleft()
