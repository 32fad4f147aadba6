"""``--on-ask stop`` and what would leave the box: the run ends where nobody could be asked.

A request cannot be taken up later as a call can: its program has gone on. So it is refused, its
question is kept, and the run ends, resumably, when the calls of the turn are through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from orchestrator.confirmation.gate import Answer, Question
from orchestrator.dispatch.batch import Keep, PartialBatchError
from orchestrator.dispatch.judge import NeedsApprovalError
from orchestrator.loop.seams import ToolRunner
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import ToolCall, ToolResult


@dataclass(slots=True)
class Unanswered:
    """The first question of a session that nobody could be asked."""

    question: Question | None = field(default=None, init=False)

    def hear(self, question: Question, answer: Answer) -> None:
        """Take note of an answer."""
        if self.question is None and answer.by == "nobody":
            self.question = question


class StoppingRunner:
    """Runs calls, and ends the run behind them where a question waits."""

    def __init__(self, runner: ToolRunner, unanswered: Unanswered) -> None:
        """Run by ``runner``."""
        self._runner = runner
        self._unanswered = unanswered

    async def dispatch(self, calls: Sequence[ToolCall], *, keep: Keep) -> tuple[ToolResult, ...]:
        """Return the results; PartialBatchError, with all of them, where the run is to end."""
        results = await self._runner.dispatch(calls, keep=keep)
        question = self._unanswered.question
        if question is not None:
            stop = NeedsApprovalError(CallId(question.call or calls[-1].id), question)
            raise PartialBatchError(results, (), stop)
        return results
