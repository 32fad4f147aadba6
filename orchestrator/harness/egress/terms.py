"""Whether what was let out under older terms may go on under newer ones. Pure."""

from __future__ import annotations

from orchestrator.schema.egress import Terms


def go_on(under: Terms, now: Terms) -> bool:
    """Say whether something that runs under ``under`` keeps to all that ``now`` asks."""
    limits = {budget.name: budget for budget in under.budgets}
    return (
        (under.inspect or not now.inspect)
        and set(under.private) <= set(now.private)
        and set(under.injections) <= set(now.injections)
        and _within(under.max_upload, now.max_upload)
        and _within(under.max_download, now.max_download)
        and all(
            (held := limits.get(budget.name)) is not None
            and _within(held.upload, budget.upload)
            and _within(held.download, budget.download)
            for budget in now.budgets
        )
    )


def _within(limit: int | None, now: int | None) -> bool:
    return now is None or (limit is not None and limit <= now)
