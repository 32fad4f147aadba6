"""One call to a provider: the request out, the answer back as it comes, the usage read beside it.

Every exit leaves a ``Relayed`` that says how far it got: what was used must be counted however a
call ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio
import httpx2

from orchestrator.egress.endpoint.clients import timeouts
from orchestrator.egress.endpoint.connection import ClientConnection, ClientGoneError
from orchestrator.egress.endpoint.echo import Echoes
from orchestrator.egress.endpoint.headers import response_headers
from orchestrator.egress.endpoint.meter import Meter
from orchestrator.egress.endpoint.outlet import Outlet
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.routes import Shape
from orchestrator.egress.endpoint.upstream import Upstream

CLIENT_GONE = "the client went away"


@dataclass(frozen=True, slots=True)
class Order:
    """A request as it goes to a provider."""

    upstream: Upstream
    shape: Shape
    method: str
    url: str
    headers: Sequence[tuple[str, str]]
    content: bytes
    echoes: Echoes
    streams: bool = False
    """The answer comes in pieces."""


@dataclass(slots=True)
class Relayed:
    """How far a call got."""

    sent: bool = False
    """The provider may have taken it."""
    status: int | None = None
    meter: Meter | None = None
    complete: bool = False
    problem: str = ""
    refused: RefusedCallError | None = None
    """What the client is still to be told."""


async def relay(
    order: Order, client: httpx2.AsyncClient, connection: ClientConnection, *, done: Relayed
) -> None:
    """Make the call and pass its answer on; a client that goes away ends it at the provider.

    ``done`` is filled in on the way, and holds when this is cancelled too.
    """
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            await connection.gone()
            done.problem = "" if done.complete else CLIENT_GONE
            group.cancel_scope.cancel()

        outlet = Outlet(connection, order.echoes)
        group.start_soon(watch)
        group.start_soon(outlet.tend)
        try:
            await _pass(order, client, outlet, done)
        except ClientGoneError:
            done.problem = CLIENT_GONE
        except httpx2.HTTPError as error:
            _failed(done, error, order.upstream.name)
        group.cancel_scope.cancel()


async def _pass(order: Order, client: httpx2.AsyncClient, outlet: Outlet, done: Relayed) -> None:
    request = httpx2.Request(
        order.method,
        order.url,
        headers=list(order.headers),
        content=order.content,
        extensions={"timeout": timeouts(order.upstream, streams=order.streams)},
    )
    done.sent = True
    response = await client.send(request, stream=True)
    try:
        done.status = response.status_code
        if response.is_redirect:
            done.problem = "redirect"
            done.refused = RefusedCallError(
                502,
                f"provider {order.upstream.name} wants to send this call elsewhere "
                f"({response.status_code}); no key follows. Its base URL is to be mended on the host",
            )
            return
        events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        done.meter = Meter(order.shape, events=events)
        headers = response_headers(response.headers.multi_items())
        await outlet.start(response.status_code, headers, events=events)
        await _pour(response, outlet, done)
    finally:
        await response.aclose()


async def _pour(response: httpx2.Response, outlet: Outlet, done: Relayed) -> None:
    async for piece in response.aiter_bytes():
        await outlet.write(piece)
        if done.meter is not None:
            done.meter.feed(piece)
    if done.meter is not None:
        done.meter.finish()
    await outlet.flush()
    # Before the last byte: a client that has it may go at once.
    done.complete, done.problem = True, ""
    await outlet.finish()


def _failed(done: Relayed, error: httpx2.HTTPError, provider: str) -> None:
    """Note why, by the kind alone: an error's text may repeat addresses and headers."""
    kind = type(error).__name__
    done.problem = kind
    if done.status is None:
        done.sent = not isinstance(
            error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout
        )
        late = isinstance(error, httpx2.TimeoutException)
        done.refused = RefusedCallError(
            504 if late else 502,
            f"provider {provider}: {'no answer in time' if late else 'no connection'} ({kind})",
        )
