"""Connections to providers: certificates checked by the host's store, no redirects, no retries."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2

from orchestrator.egress.endpoint.upstream import Upstream

CONNECT_S = 10.0
WRITE_S = 60.0
WHOLE_S = 900.0
"""Seconds that an answer may take which comes at once."""
CONNECTIONS = 512
KEPT = 32
KEPT_S = 60.0


@dataclass(frozen=True, slots=True)
class Clients:
    """An HTTP client for providers elsewhere, and one for those of this machine."""

    distant: httpx2.AsyncClient
    direct: httpx2.AsyncClient

    def of(self, upstream: Upstream) -> httpx2.AsyncClient:
        """Return the client for a provider."""
        return self.direct if upstream.direct else self.distant


@asynccontextmanager
async def open_clients(context: ssl.SSLContext) -> AsyncIterator[Clients]:
    """Give clients that are closed at the end; ``context`` says which certificates hold.

    Small servers of this machine drop kept connections unasked, so none is kept to them.
    """
    many = httpx2.Limits(
        max_connections=CONNECTIONS, max_keepalive_connections=KEPT, keepalive_expiry=KEPT_S
    )
    none = httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=0)
    async with (
        httpx2.AsyncClient(verify=context, limits=many, follow_redirects=False) as distant,
        httpx2.AsyncClient(
            verify=context, limits=none, follow_redirects=False, trust_env=False
        ) as direct,
    ):
        yield Clients(distant, direct)


def timeouts(upstream: Upstream, *, streams: bool) -> dict[str, float | None]:
    """Return a request's time-outs in the HTTP client's form; reading waits for the next bytes.

    An answer that does not stream is silent until it is whole.
    """
    idle = upstream.idle_timeout_s if streams else max(upstream.idle_timeout_s, WHOLE_S)
    return httpx2.Timeout(idle, connect=CONNECT_S, write=WRITE_S, pool=CONNECT_S).as_dict()
