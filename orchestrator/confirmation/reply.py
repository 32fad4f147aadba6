"""An answer as data: as it lies in the inbox, with who gave it, when and where from."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from orchestrator.confirmation.gate import Answer

MAX_REASON = 2000
"""Characters of a reason; it becomes part of what the model reads."""


class Reply(BaseModel):
    """An answer as it was given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: Literal["yes", "no"]
    scope: str = "once"
    widened: bool = False
    reason: str = Field(default="", max_length=MAX_REASON)
    by: str
    who: str = Field(default="", max_length=200)
    via: str = Field(default="", max_length=500)
    time: AwareDatetime

    @classmethod
    def of(cls, answer: Answer, time: datetime) -> Reply:
        """Return the data of an answer."""
        return cls(
            answer="yes" if answer.yes else "no",
            scope=answer.scope,
            widened=answer.widened,
            reason=answer.reason[:MAX_REASON],
            by=answer.by,
            who=answer.who[:200],
            via=answer.via[:500],
            time=time,
        )

    def as_answer(self) -> Answer:
        """Return the answer."""
        return Answer(
            yes=self.answer == "yes",
            by=self.by,
            scope=self.scope,
            reason=self.reason,
            who=self.who,
            via=self.via,
            widened=self.widened,
        )
