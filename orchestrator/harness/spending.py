"""What one session may spend and has: before it was opened, since, and all sessions together today."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from orchestrator.egress.endpoint.budget import RunLimits
from orchestrator.errors import AuditError
from orchestrator.harness.box_models.summary import box_calls
from orchestrator.harness.day_count import DayCount
from orchestrator.loop.agent_loop import AgentLoop
from orchestrator.loop.limits import Limits, Spent, reached
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


def left_for_box(limits: Limits, cost_before: float) -> RunLimits:
    """Return what the box alone may take, from when the session was opened."""
    tokens = [] if limits.tokens is None else [limits.tokens]
    cost = [] if limits.cost_usd is None else [max(limits.cost_usd - cost_before, 0.0)]
    if limits.asked_tokens is not None:
        tokens.append(max(limits.asked_tokens - limits.asked_used_tokens, 0))
    if limits.asked_cost_usd is not None:
        cost.append(max(limits.asked_cost_usd - limits.asked_used_cost_usd, 0.0))
    return RunLimits(min(tokens, default=None), min(cost, default=None), limits.cost_usd_per_day)


@dataclass(slots=True)
class Spending:
    """One session's."""

    limits: Limits
    cost_before_usd: float
    day: DayCount
    loop: AgentLoop | None = field(default=None, init=False)
    """Set once there is one."""

    def is_used_up(self) -> bool:
        """Say whether nothing may be asked beside a run; a run itself looks at its limits."""
        if self.limits.forbids_any_call:
            return True
        if self.loop is None:
            spent = Spent(cost_usd=self.cost_before_usd, cost_today_usd=self.day.today())
        elif self.loop.progress.is_running:
            return False
        else:
            spent = self.loop.progress.spent()
        return reached(self.limits, replace(spent, steps=0, tokens=0, seconds=0.0)) is not None
