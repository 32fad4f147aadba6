"""One yes that stands: for what, for how long, and where it came from. Pure.

It answers only what it was given for: the same digest (or a command of its pattern), asked about by
the same rule for no further risk.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from orchestrator.confirmation.gate import Question
from orchestrator.confirmation.record import PatternRecord
from orchestrator.confirmation.scopes import offered


class Revoked(BaseModel):
    """Who took a grant back, and when."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    who: str
    time: AwareDatetime


class Grant(BaseModel):
    """One yes that stands."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    id: str
    scope: str
    session: str
    """The session it was given in; a ``session`` grant holds there alone."""
    project: str
    tool: str
    subject: str
    """What was shown, without known secrets."""
    digest: str
    pattern: PatternRecord | None
    rule: str
    layer: str
    risks: tuple[str, ...]
    question: str
    by: str
    who: str
    via: str
    given: AwareDatetime
    expires: AwareDatetime
    revoked: Revoked | None = None

    def status(self, now: datetime) -> str:
        """Return ``stands``, ``revoked`` or ``expired``; a clock that was set back ends it too."""
        if self.revoked is not None:
            return "revoked"
        return "stands" if self.given - timedelta(minutes=1) <= now < self.expires else "expired"

    def answers(self, question: Question) -> bool:
        """Say whether the question is covered, leaving time aside."""
        decision, line = question.decision, question.likeness.line
        scoped = self.session == question.session if self.scope == "session" else True
        same = (self.project, self.tool, self.rule, self.layer) == (
            question.project,
            question.tool,
            decision.rule,
            decision.layer,
        )
        pattern = self.pattern.pattern() if self.pattern is not None else None
        wider = pattern is not None and line is not None and pattern.covers(line)
        if pattern is not None and None in pattern.words:
            # What is not offered today, an older yes does not give either.
            wider = wider and question.likeness.pattern == pattern
        return (
            scoped
            and same
            and self.scope in offered(question)
            and {*decision.risks} <= {*self.risks}
            and (self.digest == question.digest or wider)
        )
