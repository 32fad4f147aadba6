"""From an allowed name to a connection: one look-up, every address checked, only those dialled."""

from __future__ import annotations

from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from orchestrator.egress.limits import Limits
from orchestrator.egress.seams import ByteStream, Dialer, ResolveError, Resolver
from orchestrator.egress.targets import Place
from orchestrator.errors import BoxError
from orchestrator.policy.addresses import check_address
from orchestrator.policy.hosts import is_address

MAX_ADDRESSES = 16
"""Of a name that are tried."""


class AddressRefusedError(Exception):
    """A name leads to an address that may not be dialled; the text is safe to show to the box."""


class UnreachableError(OSError):
    """An allowed place cannot be reached; the text is safe to show to the box."""

    def __init__(self, kind: str, text: str, *, status: int = 502) -> None:
        """``kind`` is ``dns``, ``connect``, ``timeout`` or ``tls``."""
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.status = status


@dataclass(frozen=True, slots=True)
class Dialled:
    """An open connection, and the address that it leads to."""

    stream: ByteStream
    address: str


class Dialing:
    """Resolves, checks and dials."""

    def __init__(self, resolver: Resolver, dialer: Dialer, limits: Limits) -> None:
        """Use these for every connection."""
        self._resolver = resolver
        self._dialer = dialer
        self._limits = limits

    async def connect(self, place: Place, private: tuple[str, ...]) -> Dialled:
        """Return a connection to a checked address of an allowed place.

        AddressRefusedError if any of its addresses is a refused one, UnreachableError if none
        answers.
        """
        addresses = await self._addresses(place.host)
        for address in addresses:
            refused = check_address(address, private)
            if refused is not None:
                # The address itself would tell the box what the network around the host is like.
                raise AddressRefusedError(f"{place.host} leads to an address that is {refused}")
        return await self._race(addresses, place)

    async def _addresses(self, host: str) -> list[str]:
        if is_address(host):
            return [host]
        try:
            found = list(await self._resolver.resolve(host))
        except ResolveError as error:
            raise UnreachableError("dns", f"{host} has no address that could be found") from error
        if not found:
            raise UnreachableError("dns", f"{host} has no address that could be found")
        return found

    async def _race(self, addresses: list[str], place: Place) -> Dialled:
        """Try one after the other; the next joins in when one fails, or keeps silent."""
        won: list[Dialled] = []
        failures: list[OSError] = []
        try:
            async with anyio.create_task_group() as tasks:
                for address in addresses[:MAX_ADDRESSES]:
                    over = anyio.Event()
                    race = _Race(won, failures, over, tasks)
                    tasks.start_soon(self._attempt, address, place.port, race)
                    with anyio.move_on_after(self._limits.stagger_s):
                        await over.wait()
                    if won:
                        break
        except BaseException:
            with anyio.CancelScope(shield=True):
                for dialled in won:
                    await dialled.stream.close()
            raise
        if won:
            return won[0]
        late = any(isinstance(failure, TimeoutError) for failure in failures)
        kind, status = ("timeout", 504) if late else ("connect", 502)
        raise UnreachableError(
            kind, f"{place.host} port {place.port} does not answer", status=status
        )

    async def _attempt(self, address: str, port: int, race: _Race) -> None:
        try:
            with anyio.fail_after(self._limits.connect_s):
                stream = await self._dialer.dial(address, port)
        except (OSError, BoxError) as error:
            race.failures.append(error if isinstance(error, OSError) else OSError(str(error)))
            race.over.set()
            return
        if race.won:
            await stream.close()
            return
        race.won.append(Dialled(stream, address))
        race.over.set()
        race.tasks.cancel_scope.cancel()


@dataclass(frozen=True, slots=True)
class _Race:
    won: list[Dialled]
    failures: list[OSError]
    over: anyio.Event
    tasks: TaskGroup
