"""A model endpoint on a loopback socket, in front of providers that tests run."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from orchestrator.credentials.secret import Secret
from orchestrator.egress.endpoint.budget import BoxBudget
from orchestrator.egress.endpoint.clients import open_clients
from orchestrator.egress.endpoint.day_ledger import DayLedger
from orchestrator.egress.endpoint.echo import Echoes
from orchestrator.egress.endpoint.model_call import CallDesk
from orchestrator.egress.endpoint.price import Price
from orchestrator.egress.endpoint.scripted import ScriptedDesk
from orchestrator.egress.endpoint.server import ModelEndpoint
from orchestrator.egress.endpoint.upstream import Upstream
from orchestrator.egress.sockets import SocketStream
from orchestrator.policy.box_models import BoxModels
from orchestrator.redaction.known import KnownValues
from orchestrator.schema.egress import Caller

PLACEHOLDER = "gbx_placeholder_of_this_session"
KEY = "sk-real-key-4f9a1c77d2e8b6"
PRICE = Price(1.0, 10.0, 0.1, 1.25, max_output=1000, window=200_000)
ANY = BoxModels(in_box="allow", allow=(("*",),))


def provider(name: str, address: str, *apis: Any, key: str | None = KEY, **more: Any) -> Upstream:
    """Return a provider at an address that speaks these APIs."""
    return Upstream(
        name=name,
        apis=frozenset(apis),
        base_url=address,
        key=Secret(key) if key else None,
        price=more.pop("price", lambda _: PRICE),
        direct=True,
        **more,
    )


@dataclass
class Served:
    """A running endpoint."""

    address: str
    endpoint: ModelEndpoint
    desk: ScriptedDesk
    budget: BoxBudget
    terms: BoxModels
    seconds: float = 0.0
    caller: Caller | None = None
    streams: list[SocketStream] = field(default_factory=list)


@asynccontextmanager
async def endpoint(
    *upstreams: Upstream,
    terms: BoxModels = ANY,
    ledger: Path | None = None,
    day: Callable[[], str] = lambda: "2026-11-30",
    desk: CallDesk | None = None,
) -> AsyncIterator[Served]:
    """Serve while the context is open; ``served.terms`` may be changed at any time."""
    scripted = ScriptedDesk()
    keys = {u.name: u.key.reveal() for u in upstreams if u.key}
    async with open_clients(ssl.create_default_context()) as clients:
        budget = BoxBudget(
            lambda: served.terms,
            day=DayLedger(ledger or Path("/nonexistent/ledger"), day=day),
            monotonic=lambda: served.seconds,
        )
        served = Served(
            "",
            ModelEndpoint(
                upstreams,
                terms=lambda: served.terms,
                echoes=Echoes(KnownValues(keys), PLACEHOLDER),
                budget=budget,
                desk=desk or scripted,
                clients=clients,
            ),
            scripted,
            budget,
            terms,
        )
        async with _listening(served):
            yield served


@asynccontextmanager
async def _listening(served: Served) -> AsyncIterator[None]:
    loop = asyncio.get_running_loop()
    async with anyio.create_task_group() as group:

        class Accepted(SocketStream):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                super().connection_made(transport)
                served.streams.append(self)
                group.start_soon(served.endpoint.serve, self, served.caller)

        server = await loop.create_server(Accepted, "127.0.0.1", 0)
        served.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield
        finally:
            server.close()
            group.cancel_scope.cancel()
            with contextlib.suppress(OSError):
                await server.wait_closed()
