"""The context of one session, put together: its file, its models, its texts."""

from __future__ import annotations

from orchestrator.config.settings import ContextSettings
from orchestrator.context.branching import BranchSummary, summarise_branch
from orchestrator.context.options import ContextOptions
from orchestrator.context.session_context import SessionContext
from orchestrator.context.summarising import Render, Summariser
from orchestrator.harness.ground import Ground
from orchestrator.harness.models.meter import Meter, Metered
from orchestrator.harness.models.models import Models
from orchestrator.schema.ids import EntryId


def session_context(
    ground: Ground, models: Models, meter: Meter, *, render: Render, settings: ContextSettings
) -> SessionContext:
    """Return what makes each request of the session fit; the small model summarises."""
    return SessionContext(
        ground.record.store,
        lambda: models.info,
        lambda: _summariser(ground, models, meter, render),
        ground.observe,
        ground.output.scrub,
        ContextOptions(settings.reserve, settings.keep),
    )


async def branch_summary(
    ground: Ground,
    models: Models,
    meter: Meter,
    *,
    render: Render,
    target: EntryId | None,
    focus: str,
) -> BranchSummary | None:
    """Return what happened since the conversation left the way to ``target``; None for nothing."""
    summariser = _summariser(ground, models, meter, render)
    return await summarise_branch(
        ground.record.store.tree, target, summariser, scrub=ground.output.scrub, focus=focus
    )


def _summariser(ground: Ground, models: Models, meter: Meter, render: Render) -> Summariser:
    return Summariser(Metered(lambda: models.small, meter), render, f"{ground.id}-summary")
