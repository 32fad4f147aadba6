"""Connections to servers: of one connection of the box, for one place and one state of the rules."""

from __future__ import annotations

from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from orchestrator.egress.dialing import Dialing, UnreachableError
from orchestrator.egress.limits import Limits
from orchestrator.egress.reader import ReadAhead
from orchestrator.egress.seams import Admission, ByteStream, Tls
from orchestrator.egress.targets import Place
from orchestrator.egress.tls.stream import TlsError
from orchestrator.egress.tls.upstream import CertificateError

MAX_IDLE = 4
"""Connections that wait for another request, of one connection of the box."""


@dataclass(eq=False)
class Upstream:
    """An open connection to a place."""

    place: Place
    generation: int
    address: str
    reader: ReadAhead
    used: bool = False
    """An exchange was made on it before."""


class Pool:
    """Opens connections to places, and keeps those that can serve again."""

    def __init__(
        self, dialing: Dialing, tls: Tls | None, *, tasks: TaskGroup, limits: Limits
    ) -> None:
        """Read ahead in ``tasks``, which end with the connection of the box."""
        self._dialing = dialing
        self._tls = tls
        self._tasks = tasks
        self._limits = limits
        self._idle: list[Upstream] = []
        self._all: set[Upstream] = set()

    async def take(self, place: Place, admission: Admission, *, fresh: bool = False) -> Upstream:
        """Return a connection for an admitted request; raises as ``Dialing.connect`` does."""
        for upstream in reversed(self._idle):
            if upstream.place == place and upstream.generation == admission.generation:
                self._idle.remove(upstream)
                if upstream.reader.quiet and not fresh:
                    return upstream
                await self.drop(upstream)
                break
        dialled = await self._dialing.connect(place, admission.verdict.terms.private)
        stream = dialled.stream
        if place.scheme == "https":
            stream = await self._secure(stream, place)
        upstream = Upstream(place, admission.generation, dialled.address, ReadAhead(stream))
        self._all.add(upstream)
        self._tasks.start_soon(upstream.reader.run)
        return upstream

    async def give_back(self, upstream: Upstream) -> None:
        """Keep a connection whose exchange ended in order, unless the server said more."""
        upstream.used = True
        if not upstream.reader.quiet:
            await self.drop(upstream)
            return
        self._idle.append(upstream)
        if len(self._idle) > MAX_IDLE:
            await self.drop(self._idle.pop(0))

    async def drop(self, upstream: Upstream) -> None:
        """Close a connection."""
        self._all.discard(upstream)
        await upstream.reader.close()

    def forget(self) -> None:
        """Close, soon, what waits for another request: under other rules none of it is used."""
        for upstream in self._idle:
            self._tasks.start_soon(self.drop, upstream)
        self._idle.clear()

    async def close(self) -> None:
        """Close all of them."""
        self._idle.clear()
        for upstream in list(self._all):
            await self.drop(upstream)

    async def _secure(self, stream: ByteStream, place: Place) -> ByteStream:
        if self._tls is None:
            await stream.close()
            raise UnreachableError("tls", "TLS is not opened here")
        try:
            with anyio.fail_after(self._limits.tls_s):
                return await self._tls.connect(stream, place.host)
        except CertificateError as error:
            await stream.close()
            raise UnreachableError(f"certificate: {error.problem}", str(error)) from error
        except TlsError as error:
            await stream.close()
            raise UnreachableError("tls", str(error)) from error
        except TimeoutError as error:
            await stream.close()
            text = f"{place.host} does not agree on TLS in time"
            raise UnreachableError("timeout", text, status=504) from error
        except OSError as error:
            await stream.close()
            raise UnreachableError("tls", f"{place.host} broke off the TLS handshake") from error
