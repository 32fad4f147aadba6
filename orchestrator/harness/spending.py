"""What one session may spend and has: before it was opened, since, and all sessions together today."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from orchestrator.egress.endpoint.budget import RunLimits
from orchestrator.errors import AuditError
from orchestrator.harness.box_models.summary import box_calls
from orchestrator.harness.day_count import DayCount
from orchestrator.loop.agent_loop import AgentLoop
from orchestrator.loop.limits import Limits, Spent, measured, reached
from orchestrator.loop.progress import Beside, nothing_beside
from orchestrator.named_file import opened_regular, real_path
from orchestrator.sessions.copying import own_entries
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.stats import Stats, count_call, stats_of
from orchestrator.sessions.store import SessionStore

_BOX_CALLS = b'"model_call_in_box'
"""In each line of a chain that is about a call of a program in the box."""


def session_stats(entries: Sequence[Entry], chain: Path) -> Stats:
    """Return what a session came to: its own calls by its entries, its box's by its chain.

    What a copy has from its origin counts there. AuditError for a chain that cannot be read; one
    that is not there has no calls.
    """
    own = own_entries(entries)
    stats = stats_of(own, above=entries[: len(entries) - len(own)])
    try:
        with opened_regular(real_path(chain)) as file:
            lines = [line for line in file if _BOX_CALLS in line and line.endswith(b"\n")]
        for body in box_calls(map(_record, lines)):
            count_call(stats, body)
    except FileNotFoundError:
        return stats
    except (OSError, ValueError, RecursionError) as error:
        raise AuditError(f"{chain}: what the box used cannot be read: {error}") from error
    return stats


def _record(line: bytes) -> dict[str, Any]:
    record = json.loads(line)
    if not isinstance(record, dict):
        raise ValueError("expected a record, got something else")  # noqa: TRY004 - one error for a bad line
    return record


def cost_before_usd(store: SessionStore, chain: Path) -> float:
    """Return what a session cost so far, as far as it is known.

    AuditError for a chain that cannot be read.
    """
    return session_stats(store.tree.entries, chain).total.known_usd


def used_beside(beside: Beside, cost_before: float) -> Spent:
    """Return what counts to a session's limits, but for the day, where no loop has asked anything."""
    tokens, cost = beside.usage.total, beside.known_cost_usd
    return Spent(
        tokens=tokens, cost_usd=cost_before + cost, asked_tokens=tokens, asked_cost_usd=cost
    )


def left_for_box(limits: Limits, used: Spent) -> RunLimits:
    """Return what the box may still take, of what the session has used so far."""
    left: dict[str, list[float]] = {}
    for row in measured(limits, used):
        left.setdefault(row.kind, []).append(max(row.limit - row.used, 0))
    tokens = min(left.get("tokens", ()), default=None)
    cost = min(left.get("cost", ()), default=None)
    return RunLimits(None if tokens is None else int(tokens), cost, limits.cost_usd_per_day)


@dataclass(slots=True)
class Spending:
    """One session's."""

    limits: Limits
    cost_before_usd: float
    day: DayCount
    beside: Callable[[], Beside] = nothing_beside
    """What was used beside the loop."""
    loop: AgentLoop | None = field(default=None, init=False)
    """Set once there is one."""

    def used(self) -> Spent:
        """Return what counts to the limits, but for the day."""
        if self.loop is None:
            return used_beside(self.beside(), self.cost_before_usd)
        return self.loop.progress.used()

    def is_used_up(self) -> bool:
        """Say whether nothing may be asked beside a run; a run itself looks at its limits."""
        if self.limits.forbids_any_call:
            return True
        if self.loop is not None and self.loop.progress.is_running:
            return False
        spent = replace(self.used(), steps=0, tokens=0, seconds=0.0)
        return reached(self.limits, replace(spent, cost_today_usd=self.day.today())) is not None
