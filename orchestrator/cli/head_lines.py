"""What a person should know of the head's own doings, in a line each: context, model, skill, budget.

Shown by ``run`` and ``chat`` alike, which make the lines safe; the events themselves are in
``schema.head_event``.
"""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.schema.event_base import Event
from orchestrator.schema.head_event import (
    BudgetWarning,
    CallsPaced,
    CompactionEnd,
    CompactionStart,
    ContextTrimmed,
    SkillChange,
)

OVER = {
    "run": "",
    "command": ", set by a flag",
    "session": " of the whole session",
    "day": " of all sessions today (UTC)",
}
"""What a limit counts over, where that is not what was said last."""
GO_ON = {
    "session": "; policy sets it, and a copy of the session (--fork) begins anew",
    "day": "; it begins anew at midnight UTC, when the day it is counted for is over",
}
"""What a person can do where a limit of its kind is met."""
LIMITS = {
    "cost": "money",
    "cost_per_day": "the day's money",
    "wall_time": "time",
    "skill_tokens": "the skill's tokens",
}
"""What a limit is called where its kind is no plain word."""
DOLLARS = frozenset({"cost", "cost_per_day"})


def head_lines(event: Event) -> Iterator[str]:
    """Yield raw lines; none for an event that is not of the head, or need not be noticed.

    That another model takes over is told by a note with its reason, also where no progress is shown.
    """
    match event:
        case CompactionStart():
            yield f"  summarising the conversation ({event.reason}, {event.tokens} tokens)"
        case CompactionEnd(problem=""):
            yield f"  summarised: {event.tokens_before} → {event.tokens_after} tokens"
        case CompactionEnd():
            yield f"  not summarised: {event.problem}"
        case ContextTrimmed(part="thoughts"):
            yield (
                f"  the provider refused earlier thoughts: {event.count} of them, or their "
                f"signatures, are left out from here on ({event.tokens} tokens)"
            )
        case ContextTrimmed():
            yield f"  left out of the request: {event.count} {event.part} ({event.tokens} tokens)"
        case SkillChange(skill=None):
            yield f"  no skill any more (by {event.by})"
        case SkillChange():
            yield f"  skill {event.skill} (by {event.by})"
        case BudgetWarning():
            name = LIMITS.get(event.kind, event.kind)
            used, limit = (_amount(event.kind, value) for value in (event.used, event.value))
            yield f"  {event.share:.0%} of {name} used: {used} of {limit}{OVER[event.over]}"
        case CallsPaced():
            yield (
                f"  {event.calls} more calls begin in {event.seconds:,.0f} s: policy allows "
                f"{event.per_minute} a minute"
            )
        case _:
            pass


def _amount(kind: str, value: float) -> str:
    if kind in DOLLARS:
        return f"${value:.4f}"
    return f"{value:,.0f} s" if kind == "wall_time" else f"{value:,.0f}"
