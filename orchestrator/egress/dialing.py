"""From an allowed name to a connection: one look-up, every address checked, only those dialled."""

from __future__ import annotations

from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from orchestrator.egress.limits import Limits
from orchestrator.egress.seams import ByteStream, Dialer, ResolveError, Resolver, UpstreamProxy
from orchestrator.egress.targets import Place
from orchestrator.errors import BoxError
from orchestrator.policy.addresses import check_address
from orchestrator.policy.hosts import is_address

MAX_ADDRESSES = 16
"""Of a name that are tried."""
UNKNOWN_ADDRESS = "looked up by the upstream proxy"


class AddressRefusedError(Exception):
    """A name leads to an address that may not be dialled; the text is safe to show to the box.

    ``address`` is for records on the host alone: it tells what the network around it is like.
    """

    def __init__(self, text: str, *, address: str = "") -> None:
        """Keep both."""
        super().__init__(text)
        self.address = address


class UnreachableError(OSError):
    """An allowed place cannot be reached; the text is safe to show to the box."""

    def __init__(self, kind: str, text: str, *, status: int = 502) -> None:
        """``kind`` is ``dns``, ``connect``, ``timeout``, ``tls`` or ``upstream-proxy``."""
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.status = status


class UpstreamProxyError(UnreachableError):
    """The company's proxy does not connect; the text names the reason and no part of its answer."""

    def __init__(self, text: str, *, status: int = 502, final: bool = False) -> None:
        """``final`` where no other address of the place would fare better."""
        super().__init__("upstream-proxy", text, status=status)
        self.final = final


@dataclass(frozen=True, slots=True)
class Dialled:
    """An open connection, and the address that it leads to."""

    stream: ByteStream
    address: str
    """``UNKNOWN_ADDRESS`` where a company's proxy looked the name up."""


class Dialing:
    """Resolves, checks and dials."""

    def __init__(
        self,
        resolver: Resolver,
        dialer: Dialer,
        limits: Limits,
        *,
        by: UpstreamProxy | None = None,
    ) -> None:
        """Use these for every connection; ``by`` says itself which ones are its."""
        self._resolver = resolver
        self._dialer = dialer
        self._limits = limits
        self._by = by

    async def connect(self, place: Place, private: tuple[str, ...]) -> Dialled:
        """Return a connection to a checked address of an allowed place.

        AddressRefusedError if any of its addresses is a refused one, UnreachableError if none
        answers. A name that the company's proxy looks up has no address here to be checked.
        """
        if self._by is not None and not is_address(place.host) and self._by.looks_up(place.host):
            return Dialled(await self._through(self._by, place.host, place), UNKNOWN_ADDRESS)
        addresses = await self._addresses(place.host)
        for address in addresses:
            refused = check_address(address, private)
            if refused is not None:
                # The address itself would tell the box what the network around the host is like.
                raise AddressRefusedError(
                    f"{place.host} leads to an address that is {refused}", address=address
                )
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
                    tasks.start_soon(self._attempt, address, place, race)
                    with anyio.move_on_after(self._limits.stagger_s):
                        await over.wait()
                    if won or _hopeless(failures):
                        tasks.cancel_scope.cancel()
                        break
        except BaseException:
            with anyio.CancelScope(shield=True):
                for dialled in won:
                    await dialled.stream.close()
            raise
        if won:
            return won[0]
        told = next((one for one in failures if isinstance(one, UnreachableError)), None)
        if told is not None:
            raise told
        late = any(isinstance(failure, TimeoutError) for failure in failures)
        kind, status = ("timeout", 504) if late else ("connect", 502)
        raise UnreachableError(
            kind, f"{place.host} port {place.port} does not answer", status=status
        )

    async def _attempt(self, address: str, place: Place, race: _Race) -> None:
        try:
            stream = await self._dial(address, place)
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

    async def _dial(self, address: str, place: Place) -> ByteStream:
        if self._by is not None and self._by.carries(place.host, address):
            return await self._through(self._by, address, place)
        with anyio.fail_after(self._limits.connect_s):
            return await self._dialer.dial(address, place.port)

    async def _through(self, by: UpstreamProxy, target: str, place: Place) -> ByteStream:
        try:
            return await by.dial(target, place.port)
        except UnreachableError:
            raise
        except OSError as error:
            raise UpstreamProxyError("the upstream proxy broke off") from error


def _hopeless(failures: list[OSError]) -> bool:
    return any(isinstance(one, UpstreamProxyError) and one.final for one in failures)


@dataclass(frozen=True, slots=True)
class _Race:
    won: list[Dialled]
    failures: list[OSError]
    over: anyio.Event
    tasks: TaskGroup
