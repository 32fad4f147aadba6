"""The model endpoint of one session, where its policy lets programs in the box ask a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from orchestrator.egress.endpoint.budget import RunLimits
from orchestrator.harness.box_models.opening import BoxModelParts, OpenBoxModels, open_box_models
from orchestrator.harness.box_models.providers import ProviderFacts
from orchestrator.harness.box_spec import run_limits
from orchestrator.harness.day_count import day_ledger
from orchestrator.harness.egress.parts import WayParts
from orchestrator.harness.egress.secured import host_context
from orchestrator.harness.spending import left_for_box, used_beside
from orchestrator.policy.box_models import BoxModels
from orchestrator.schema.terminal_text import escape_terminal


@asynccontextmanager
async def session_models(
    parts: WayParts, terms: Callable[[], BoxModels]
) -> AsyncIterator[OpenBoxModels | None]:
    """Give the endpoint for models, where the box may ask any."""
    if terms().in_box != "allow":
        yield None
        return
    governed = parts.governed
    facts = ProviderFacts(
        parts.providers,
        parts.environ,
        governed.keys.get,
        note=lambda text: parts.note(escape_terminal(text)),
        model=governed.options.model,
    )
    limits = run_limits(governed.policy.limits, governed.options.limits)

    def left() -> RunLimits:
        # Where nobody but the box asks a model, all is used that the box used.
        whole = parts.use.of_session
        alone = used_beside(parts.use.beside(), parts.cost_before_usd)
        return left_for_box(limits, alone if whole is None else whole())

    box_models = BoxModelParts(
        terms=terms,
        providers=facts,
        audit=parts.audit,
        scrub=parts.output.scrub_data,
        learn=parts.output.learn,
        observe=parts.observe,
        paths=parts.paths,
        run=left,
        whole=day_ledger(parts.paths),
        context=host_context(parts.settings),
    )
    async with open_box_models(box_models) as models:
        parts.use.spent = models.spent
        yield models
