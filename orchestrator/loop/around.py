"""What a loop stands among, besides model, runner and transcript."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from orchestrator.confirmation.work_clock import WorkClock
from orchestrator.loop.progress import Beside, nothing_beside, nothing_today
from orchestrator.loop.seams import Context, Queue

_Waiting = TypeVar("_Waiting", bound=Queue)


@dataclass(frozen=True, slots=True)
class Around(Generic[_Waiting]):
    """What a loop stands among."""

    context: Context
    queue: _Waiting
    clock: WorkClock
    beside: Callable[[], Beside] = nothing_beside
    """Says what programs in the box, and other calls of models, have used so far."""
    today: Callable[[], float] = nothing_today
    """US dollars that all sessions have spent today; raises where it must be known and is not."""
    cost_before_usd: float = 0.0
    """US dollars that the session had cost before it was opened, as far as it is known."""
    skill_tokens: Callable[[], int | None] = lambda: None
    """Tokens that one run may use under the skill that is on; asked anew at each turn."""
