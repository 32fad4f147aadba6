"""What the loop remembers from turn to turn of one run."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.loop.circles import Circles
from orchestrator.loop.limits import Reached
from orchestrator.loop.states import Course
from orchestrator.schema.message import AssistantMessage, UserMessage


@dataclass(slots=True)
class OneRun:
    """Begins anew with each thing said."""

    circles: Circles
    course: Course = field(default_factory=Course)
    cuts: int = 0
    """Answers in a row that were cut at the output limit."""
    pauses: int = 0
    empties: int = 0
    """Answers in a row that said nothing and called nothing."""
    shrunk: bool = False
    """The conversation was shortened because the provider said so, and no answer came since."""
    said: tuple[UserMessage, ...] = ()
    """What is told the model before its next turn."""
    limit: Reached | None = None
    begun: bool = False
    """It has asked the model, or run calls, since it began."""

    def hear(self, message: AssistantMessage) -> None:
        """Take note of an answer that its provider neither cut nor paused."""
        self.cuts = self.pauses = 0
        said = bool(message.tool_calls or message.text.strip())
        self.empties = 0 if said else self.empties + 1
