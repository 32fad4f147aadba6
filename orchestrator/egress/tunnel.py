"""Connections that are asked for as a whole: judged by their end, opened where a rule needs that.

Whatever a tunnel is asked for by, its TLS must name the same server before a byte goes on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import anyio

from orchestrator.egress.dialing import AddressRefusedError, UnreachableError
from orchestrator.egress.framed import read_request
from orchestrator.egress.line import Line, watch
from orchestrator.egress.live import Carried
from orchestrator.egress.reader import ReadAhead
from orchestrator.egress.refusals import Refusal, by_policy, by_rule, refusal_of
from orchestrator.egress.seams import Admission, ByteStream, Headers
from orchestrator.egress.splice import Splice
from orchestrator.egress.strict import MessageError
from orchestrator.egress.targets import Place
from orchestrator.egress.tls.hello import ClientHello, HelloError, read_hello
from orchestrator.egress.tls.names import NameMismatch, require_name
from orchestrator.policy.hosts import canonical_host
from orchestrator.schema.egress import EgressRequest

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"

Talk = Callable[[Line], Awaitable[None]]
"""Serves the requests inside of a tunnel that was opened."""


@dataclass(frozen=True)
class Tunnel:
    """One connection of the box to one place."""

    line: Line
    place: Place
    talk: Talk

    async def connect(self, headers: Headers) -> None:
        """Serve a CONNECT: the verdict comes first, then 200, then what the client begins with."""
        admission = await self._admit()
        if not admission.allowed:
            refusal = by_policy(admission.request, admission.verdict.decision)
            await self.line.refuse(refusal, headers)
            return
        with self.line.parts.live.carry(admission) as carried:
            if self.place.scheme == "tcp":
                await self._opaque(carried, headers, ESTABLISHED)
                return
            try:
                await self.line.reader.send(ESTABLISHED)
            except OSError as error:
                carried.problem = f"broke off: {error}"
                return
            if self.place.scheme == "http":
                await self.talk(replace(self.line, door="inspected", place=self.place))
                return
            hello, stream = await self._hello()
            await self._secured(hello, stream, carried)

    async def transparent(self) -> None:
        """Serve a connection of a program that knows of no proxy; a refusal is told inside TLS."""
        secured = self.place.scheme == "https"
        hello, stream = await self._hello() if secured else (None, self.line.reader)
        admission = await self._admit()
        if admission.allowed:
            with self.line.parts.live.carry(admission) as carried:
                if secured:
                    await self._secured(hello, stream, carried)
                else:
                    await self._opaque(carried, (), b"")
        elif isinstance(hello, ClientHello):
            refusal = by_policy(admission.request, admission.verdict.decision)
            await self._tell(hello, stream, refusal)

    async def _admit(self) -> Admission:
        place = self.place
        request = EgressRequest(self.line.door, place.scheme, place.host, place.port)
        return await self.line.parts.gatekeeper.admit(request, self.line.caller)

    async def _hello(self) -> tuple[ClientHello | str, ByteStream]:
        """Return the ClientHello, or why there is none, and the stream from its beginning."""
        self.line.reader.hand_over()
        try:
            with anyio.fail_after(self.line.parts.limits.tls_s):
                return await read_hello(self.line.reader)
        except TimeoutError:
            return "no ClientHello came in time", self.line.reader
        except (HelloError, OSError) as error:
            return str(error), self.line.reader

    async def _secured(
        self, hello: ClientHello | str | None, stream: ByteStream, carried: Carried
    ) -> None:
        """Serve an admitted connection that has to carry TLS for its own place."""
        if not isinstance(hello, ClientHello):
            carried.problem = hello or "no ClientHello"
            return
        try:
            require_name(hello, self.place.host)
        except NameMismatch as error:
            carried.problem, carried.refused = str(error), "names"
            await self._tell(hello, stream, by_rule("names", str(error)))
            return
        if carried.admission.verdict.terms.inspect:
            await self._inspect(stream, carried)
            return
        far = await self._dial(carried)
        if isinstance(far, Refusal):
            await self._tell(hello, stream, far)
        else:
            await self._splice(stream, far, carried)

    async def _opaque(self, carried: Carried, headers: Headers, established: bytes) -> None:
        """Serve an admitted connection whose bytes nobody reads."""
        far = await self._dial(carried)
        if isinstance(far, Refusal):
            if established:
                await self.line.refuse(far, headers)
            return
        try:
            await self.line.reader.send(established)
        except OSError as error:
            carried.problem = f"broke off: {error}"
            await far.close()
            return
        self.line.reader.hand_over()
        await self._splice(self.line.reader, far, carried)

    async def _dial(self, carried: Carried) -> ByteStream | Refusal:
        try:
            private = carried.admission.verdict.terms.private
            dialled = await self.line.parts.dialing.connect(self.place, private)
        except (AddressRefusedError, UnreachableError) as error:
            refusal = refusal_of(error)
            carried.problem, carried.refused = str(error), refusal.rule
            if isinstance(error, AddressRefusedError):
                carried.address = error.address
            return refusal
        carried.address = dialled.address
        return dialled.stream

    async def _splice(self, near: ByteStream, far: ByteStream, carried: Carried) -> None:
        self.line.life.spliced = True
        carried.idle_s = self.line.parts.limits.tunnel_idle_s
        carried.touch()
        try:
            await Splice(near, far, carried).run()
        finally:
            with anyio.CancelScope(shield=True):
                await far.close()

    async def _inspect(self, stream: ByteStream, carried: Carried) -> None:
        """Open the TLS, and serve the requests inside."""
        try:
            inside = await self._terminate(stream, self.place.host)
        except OSError as error:
            carried.problem = str(error) or "the client did not agree on TLS in time"
            return
        async with anyio.create_task_group() as tasks:
            reader, line = ReadAhead(inside), self.line
            tasks.start_soon(watch, reader, line.life, tasks.cancel_scope)
            await self.talk(replace(self.line, reader=reader, door="inspected", place=self.place))
            tasks.cancel_scope.cancel()

    async def _terminate(self, stream: ByteStream, host: str) -> ByteStream:
        parts = self.line.parts
        if parts.tls is None:
            raise OSError("TLS is not opened here")
        with anyio.fail_after(parts.limits.tls_s):
            return await parts.tls.terminate(stream, host)

    async def _tell(self, hello: ClientHello, stream: ByteStream, refusal: Refusal) -> None:
        """Say why, in the place of the server that the client means, where it lets us."""
        if hello.server_name is None or hello.encrypted:
            return
        try:
            named = canonical_host(hello.server_name)
            reader = ReadAhead(await self._terminate(stream, named))
        except (ValueError, OSError):
            return
        limits = self.line.parts.limits
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reader.run)
            try:
                got = await read_request(reader, keep_s=limits.tls_s, head_s=limits.tls_s)
                if got is not None:
                    method = got[0].method.decode("ascii")
                    line = replace(self.line, reader=reader)
                    await line.refuse(refusal, got[1].headers, method=method)
            except (MessageError, OSError):
                pass
            tasks.cancel_scope.cancel()
