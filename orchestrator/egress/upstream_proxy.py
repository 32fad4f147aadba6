"""Connections through a company's proxy: one of its own for each, asked for by CONNECT."""

from __future__ import annotations

import base64
import ipaddress
import ssl
from dataclasses import dataclass, field

import anyio

from orchestrator.egress.connect_answer import connect_request, read_answer, refusal_text
from orchestrator.egress.dialing import UpstreamProxyError
from orchestrator.egress.no_proxy import NoProxy
from orchestrator.egress.seams import ByteStream, Dialer, Resolver
from orchestrator.egress.sockets import AddressDialer, HostResolver
from orchestrator.egress.strict import MessageError
from orchestrator.egress.tls.stream import TlsError
from orchestrator.egress.tls.upstream import connect as connect_tls
from orchestrator.policy.hosts import is_address, special_name

REACH_S = 10.0
"""To reach the proxy, with its TLS."""
ANSWER_S = 45.0
"""For its answer: it dials too, and may be slow to give up."""
REFUSED_S = 60.0
"""Without another attempt after it took no password: companies lock accounts that go on."""


@dataclass(frozen=True, slots=True)
class ProxyPlace:
    """Where the proxy is, and how it is spoken to."""

    host: str
    port: int
    context: ssl.SSLContext | None = None
    """How its certificate is checked; None for one that is spoken to in plain."""
    login: str | None = field(default=None, repr=False)
    """``user:password``."""


class CompanyProxy:
    """An UpstreamProxy. Its own address is the user's word, and needs no check."""

    def __init__(
        self,
        place: ProxyPlace,
        no_proxy: NoProxy,
        *,
        looks_up: bool = False,
        resolver: Resolver | None = None,
        dialer: Dialer | None = None,
    ) -> None:
        """``looks_up``: names go to it as they are. The last two reach the proxy itself."""
        self._place = place
        self._no_proxy = no_proxy
        self._looks_up = looks_up
        self._resolver = resolver or HostResolver()
        self._dialer = dialer or AddressDialer()
        self._refused_until = 0.0
        self._taken = place.login is None
        self._first = anyio.Lock()
        self._authorization = None
        if place.login is not None:
            self._authorization = b"Basic " + base64.b64encode(place.login.encode())

    def looks_up(self, host: str) -> bool:
        """Say whether the proxy looks this name up.

        Never one that networks use for what is near: its address is looked up and checked here.
        """
        ordinary = not is_address(host) and special_name(host) is None
        return self._looks_up and ordinary and not self._no_proxy.names(host)

    def carries(self, host: str, address: str) -> bool:
        """Say whether this goes by the proxy; never loopback, which would be the proxy's own."""
        if ipaddress.ip_address(address).is_loopback:
            return False
        return not self._no_proxy.names(host) and not self._no_proxy.holds(address)

    async def dial(self, target: str, port: int) -> ByteStream:
        """Return a new connection that ends at ``target``. UpstreamProxyError, OSError.

        As long as the login was not taken once, one connection at a time brings it.
        """
        if not self._taken:
            async with self._first:
                if not self._taken:
                    return await self._dial(target, port)
        return await self._dial(target, port)

    async def _dial(self, target: str, port: int) -> ByteStream:
        if anyio.current_time() < self._refused_until:
            raise self._refusal(407, port)
        stream = await self._reach()
        try:
            with anyio.fail_after(ANSWER_S):
                await stream.send(connect_request(target, port, self._authorization))
                status, opened = await read_answer(stream)
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                await stream.close()
            if isinstance(error, TimeoutError):
                text = f"the upstream proxy did not connect within {ANSWER_S:g} s"
                raise UpstreamProxyError(text, status=504) from error
            if isinstance(error, MessageError):
                text = f"the upstream proxy's answer has no one meaning: {error}"
                raise UpstreamProxyError(text, final=True) from error
            raise
        if 200 <= status < 300:
            self._taken = True
            return opened
        await stream.close()
        if status == 407 and self._authorization is not None:
            self._refused_until = anyio.current_time() + REFUSED_S
        raise self._refusal(status, port)

    def _refusal(self, status: int, port: int) -> UpstreamProxyError:
        text = refusal_text(status, port, with_secret=self._authorization is not None)
        return UpstreamProxyError(text, final=status < 500)

    async def _reach(self) -> ByteStream:
        try:
            with anyio.fail_after(REACH_S):
                return await self._secured(await self._connected())
        except TimeoutError as error:
            text = f"the upstream proxy does not answer within {REACH_S:g} s"
            raise UpstreamProxyError(text, status=504, final=True) from error
        except TlsError as error:
            # Not its words: they hold the proxy's name, which is nothing for the box.
            text = "the upstream proxy's own certificate or TLS does not hold"
            raise UpstreamProxyError(text, final=True) from error
        except OSError as error:
            raise UpstreamProxyError("the upstream proxy cannot be reached", final=True) from error

    async def _connected(self) -> ByteStream:
        host = self._place.host
        addresses = [host] if is_address(host) else await self._resolver.resolve(host)
        failure: OSError | None = None
        for address in addresses:
            try:
                return await self._dialer.dial(address, self._place.port)
            except OSError as error:
                failure = error
        raise failure or OSError("no address")

    async def _secured(self, stream: ByteStream) -> ByteStream:
        if self._place.context is None:
            return stream
        try:
            return await connect_tls(stream, self._place.host, self._place.context)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await stream.close()
            raise
