"""Bringing up the model endpoint of one session."""

from __future__ import annotations

import secrets
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.egress.endpoint import MODEL_PORT
from orchestrator.egress.endpoint.budget import BoxBudget, BoxSpent, RunLimits, no_run_limits
from orchestrator.egress.endpoint.clients import open_clients
from orchestrator.egress.endpoint.day_ledger import DayLedger
from orchestrator.egress.endpoint.echo import Echoes
from orchestrator.egress.endpoint.server import ModelEndpoint
from orchestrator.egress.endpoint.upstream import Upstream
from orchestrator.harness.box_models.local_provider import NAME, LocalProvider, has_local_model
from orchestrator.harness.box_models.providers import ProviderFacts, box_upstreams, may_use
from orchestrator.harness.box_models.records import Chain, ModelCallDesk, Scrub
from orchestrator.harness.box_models.variables import box_variables
from orchestrator.policy.box_models import BoxModels
from orchestrator.redaction.known import KnownValues
from orchestrator.schema.event import Observer

PREFIX = "gbx_"
"""Of placeholders; a random word follows."""
USE_TODAY = "model-use.json"
"""What boxes took."""


@dataclass(frozen=True, slots=True)
class BoxModelParts:
    """What an endpoint is put together from."""

    terms: Callable[[], BoxModels]
    """The rules in force; read anew for each call."""
    providers: ProviderFacts
    audit: Chain
    scrub: Scrub
    learn: Callable[[dict[str, str]], None]
    """Hears every key that is read, to keep it out of texts."""
    observe: Observer
    paths: Paths
    run: Callable[[], RunLimits] = no_run_limits
    """What is left of the run; asked anew for each call."""
    whole: DayLedger | None = None
    """What all sessions and their boxes spend in a day."""
    context: ssl.SSLContext = field(default_factory=ssl.create_default_context)
    """Which certificates hold."""


@dataclass(frozen=True, slots=True)
class OpenBoxModels:
    """An endpoint that is up."""

    endpoint: ModelEndpoint
    environment: dict[str, str]
    """Variables of commands in the box."""
    port: int
    spent: Callable[[], BoxSpent]
    """What the box has used so far."""


@asynccontextmanager
async def open_box_models(parts: BoxModelParts) -> AsyncIterator[OpenBoxModels]:
    """Give the endpoint while the context is open; calls under way are ended with it."""
    terms = parts.terms()
    placeholder = PREFIX + secrets.token_urlsafe(24)
    async with AsyncExitStack() as stack:
        # A keyring or a vault may block, or ask for a passphrase.
        upstreams = await to_thread.run_sync(box_upstreams, terms, parts.providers)
        if may_use(terms, NAME) and has_local_model():
            local = LocalProvider(parts.providers.environ)
            await stack.enter_async_context(local.running())
            upstreams = (*upstreams, local.upstream())
        keys = _keys(upstreams)
        parts.learn(keys)
        if not upstreams:
            parts.providers.note("models in the box: no provider that policy allows has a key")
        budget = BoxBudget(
            parts.terms,
            day=DayLedger(parts.paths.state / USE_TODAY),
            monotonic=time.monotonic,
            run=parts.run,
            whole=parts.whole,
        )
        desk = ModelCallDesk(parts.audit, scrub=parts.scrub, observe=parts.observe)
        endpoint = ModelEndpoint(
            upstreams,
            terms=parts.terms,
            echoes=Echoes(KnownValues(keys), placeholder),
            budget=budget,
            desk=desk,
            clients=await stack.enter_async_context(open_clients(parts.context)),
        )
        try:
            yield OpenBoxModels(
                endpoint,
                box_variables(upstreams, placeholder, port=MODEL_PORT),
                MODEL_PORT,
                lambda: budget.spent,
            )
        finally:
            with anyio.CancelScope(shield=True):
                await desk.flush()


def _keys(upstreams: tuple[Upstream, ...]) -> dict[str, str]:
    return {f"key-{up.name}": up.key.reveal() for up in upstreams if up.key is not None}
