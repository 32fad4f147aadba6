"""The proxy of one session: every connection that its box makes to the outside is served here."""

from __future__ import annotations

from dataclasses import replace

import anyio

from orchestrator.egress.conversation import Conversation, talk
from orchestrator.egress.dialing import Dialing
from orchestrator.egress.inject.injector import Injector
from orchestrator.egress.ledger import Ledger
from orchestrator.egress.limits import Limits
from orchestrator.egress.line import Life, Line, Parts, watch
from orchestrator.egress.live import Live
from orchestrator.egress.reader import ReadAhead
from orchestrator.egress.refusals import failed
from orchestrator.egress.seams import (
    ByteStream,
    Dialer,
    ExchangeWatch,
    Gatekeeper,
    Recorder,
    Resolver,
    Tls,
    UpstreamProxy,
)
from orchestrator.egress.targets import USUAL_PORT, Place
from orchestrator.egress.tunnel import Tunnel
from orchestrator.egress.upstream import Pool
from orchestrator.policy.hosts import HostRefused, canonical_host
from orchestrator.schema.egress import Caller, Door, EgressRequest
from orchestrator.schema.way_out import Incoming


class Proxy:
    """Serves connections until each is over, or ``close``."""

    def __init__(
        self,
        gatekeeper: Gatekeeper,
        resolver: Resolver,
        dialer: Dialer,
        *,
        tls: Tls | None = None,
        injector: Injector | None = None,
        watch: ExchangeWatch | None = None,
        recorder: Recorder | None = None,
        limits: Limits | None = None,
        by: UpstreamProxy | None = None,
    ) -> None:
        """Ask the gatekeeper about everything.

        What needs ``tls`` or an ``injector`` is refused without; ``watch`` only looks on, and
        ``recorder`` hears of what could not be judged. ``by`` is a company's proxy to leave by.
        """
        limits = limits or Limits()
        self._live = Live(gatekeeper, Ledger())
        self._parts = Parts(
            gatekeeper,
            Dialing(resolver, dialer, limits, by=by),
            self._live,
            limits=limits,
            tls=tls,
            injector=injector,
            watch=watch,
            recorder=recorder,
        )
        self._scopes: set[anyio.CancelScope] = set()
        self._pools: set[Pool] = set()
        self._closed = False

    async def serve(self, stream: ByteStream, incoming: Incoming) -> None:
        """Serve one connection of a program in the box until it is over, and close it.

        Raises nothing but what cancels it. The door ``model`` is not the proxy's.
        """
        scope = anyio.CancelScope()
        self._scopes.add(scope)
        try:
            with scope:
                await self._serve(ReadAhead(stream), incoming)
        finally:
            self._scopes.discard(scope)
            with anyio.CancelScope(shield=True):
                await ReadAhead(stream).close()

    async def knows(self, name: str, caller: Caller | None) -> bool:
        """Say whether a name may be looked up, since something on it may be allowed."""
        try:
            host = canonical_host(name)
        except HostRefused:
            host = name.encode("ascii", "backslashreplace").decode()[:255]
            known = False
        else:
            known = True
        request = EgressRequest("dns", "https", host, 0)
        admission = await self._parts.gatekeeper.admit(request, caller)
        return known and admission.allowed

    def recheck(self) -> int:
        """End what new rules no longer let pass; return how many requests and tunnels that were."""
        for pool in self._pools:
            pool.forget()
        return self._live.recheck()

    def close(self) -> None:
        """End every connection, and take no more."""
        self._closed = True
        for scope in list(self._scopes):
            scope.cancel()

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._scopes)

    async def _serve(self, reader: ReadAhead, incoming: Incoming) -> None:
        async with anyio.create_task_group() as tasks:
            pool = Pool(
                self._parts.dialing, self._parts.tls, tasks=tasks, limits=self._parts.limits
            )
            life = Life(self._parts.limits.gone_s)
            door: Door = "transparent" if incoming.door == "transparent" else "http"
            line = Line(self._parts, reader, pool, door=door, caller=incoming.caller, life=life)
            tasks.start_soon(watch, reader, life, tasks.cancel_scope)
            self._pools.add(pool)
            try:
                await self._by_door(line, incoming)
            finally:
                self._pools.discard(pool)
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await pool.close()

    async def _by_door(self, line: Line, incoming: Incoming) -> None:
        if self._closed or len(self._scopes) > self._parts.limits.connections:
            if incoming.door == "proxy":
                text = "too many connections of this session at one time"
                await line.refuse(failed("busy", text, status=503))
        elif incoming.door == "proxy":
            await Conversation(line).run()
        elif incoming.door == "transparent":
            await self._transparent(line, incoming)

    async def _transparent(self, line: Line, incoming: Incoming) -> None:
        """Serve a program that ignores the proxy; the box says which name it looked up."""
        try:
            host = canonical_host(incoming.host)
        except HostRefused:
            await self.knows(incoming.host, incoming.caller)
            return
        if not 0 < incoming.port < 65536:
            return
        scheme = self._parts.gatekeeper.tunnel_scheme(host, incoming.port)
        if incoming.port == USUAL_PORT["http"] and scheme == "https":
            scheme = "http"
        place = Place(scheme, host, incoming.port)
        if scheme == "http":
            await Conversation(replace(line, place=place)).run()
        else:
            await Tunnel(line, place, talk).transparent()
