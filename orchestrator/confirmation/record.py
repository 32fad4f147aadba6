"""A question and what became of it, as data: for the inbox, for a webhook, for machines."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from orchestrator.confirmation.gate import Question
from orchestrator.confirmation.scopes import offered, remembered
from orchestrator.schema.decision import Decision, Risk
from orchestrator.schema.ids import Digest
from orchestrator.schema.likeness import Likeness, Pattern

MAX_SHOWN = 200_000
"""Characters of a command or content that are kept; what is longer says so and has to be looked at elsewhere."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PatternRecord(_Strict):
    """Commands that a wider yes covers; null is a place for any one plain word."""

    words: tuple[str | None, ...] = Field(min_length=1, max_length=1000)
    cwd: str

    @classmethod
    def of(cls, pattern: Pattern | None) -> PatternRecord | None:
        """Return the data of a pattern."""
        return cls(words=pattern.words, cwd=pattern.cwd) if pattern is not None else None

    def pattern(self) -> Pattern:
        """Return the pattern."""
        return Pattern(self.words, self.cwd)


class QuestionRecord(_Strict):
    """Everything a person needs to answer, without known secrets."""

    version: Literal[1] = 1
    id: str = Field(pattern=r"^[0-9a-z-]{4,64}$")
    session: str
    project: str
    call: str
    tool: str
    subject: str
    body: str
    cwd: str
    digest: str
    """Of exactly what will run."""
    effects: tuple[str, ...]
    risks: tuple[Risk, ...]
    rule: str
    layer: str
    reason: str
    notes: tuple[str, ...]
    span: tuple[int, int] | None
    always: bool
    unyielding: bool
    kept_for: str
    remembers: dict[str, str]
    """By scope, the narrowest first: what a yes of that scope is kept for."""
    pattern: PatternRecord | None
    created: AwareDatetime
    expires: AwareDatetime | None


def record_of(question: Question, *, expires: datetime | None) -> QuestionRecord:
    """Return the question's data, without known secrets; raises ValueError where it is too long."""
    scrub, decision = question.scrub, question.decision
    if len(question.subject) + len(question.body) > MAX_SHOWN:
        raise ValueError(f"longer than {MAX_SHOWN} characters")
    subject = scrub(question.subject)
    whole = subject == question.subject
    return QuestionRecord(
        id=question.id,
        session=question.session,
        project=question.project,
        call=question.call,
        tool=question.tool,
        subject=subject,
        body=scrub(question.body),
        cwd=question.cwd,
        digest=question.digest,
        effects=tuple(scrub(line) for line in question.likeness.effects),
        risks=decision.risks,
        rule=decision.rule,
        layer=decision.layer,
        reason=scrub(decision.reason),
        notes=tuple(scrub(note) for note in decision.notes),
        # Places in a text that was changed are places of something else.
        span=decision.span if whole else None,
        always=decision.always,
        unyielding=decision.unyielding,
        kept_for=question.kept_for,
        remembers={scope: remembered(scope) for scope in offered(question)},
        pattern=PatternRecord.of(question.likeness.pattern) if whole else None,
        created=question.created,
        expires=expires,
    )


def question_of(record: QuestionRecord) -> Question:
    """Return the question to be shown again."""
    decision = Decision(
        effect="ask",
        rule=record.rule,
        layer=record.layer,
        reason=record.reason,
        risks=record.risks,
        span=record.span,
        always=record.always,
        unyielding=record.unyielding,
        notes=record.notes,
    )
    pattern = record.pattern.pattern() if record.pattern is not None else None
    return Question(
        id=record.id,
        call=record.call,
        tool=record.tool,
        subject=record.subject,
        cwd=record.cwd,
        decision=decision,
        digest=Digest(record.digest),
        scopes=tuple(record.remembers),
        body=record.body,
        kept_for=record.kept_for,
        session=record.session,
        project=record.project,
        likeness=Likeness(record.effects, pattern=pattern),
        created=record.created,
        expires=record.expires,
    )


def plain_data(model: BaseModel) -> dict[str, Any]:
    """Return a record as JSON data."""
    return model.model_dump(mode="json")
