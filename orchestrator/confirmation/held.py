"""One question in the inbox: where it stands, and which answers fit it. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from orchestrator.confirmation.gate import Question
from orchestrator.confirmation.record import QuestionRecord
from orchestrator.confirmation.reply import Reply
from orchestrator.errors import UsageError

State = Literal["waiting", "answered", "used", "closed"]


class Held(BaseModel):
    """One question in the inbox."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    question: QuestionRecord
    state: State = "waiting"
    reply: Reply | None = None
    """The answer that counted."""
    late: tuple[Reply, ...] = ()
    """Answers that came after it."""
    told: int = 0
    """How many of those are in the session's audit."""
    changed: AwareDatetime

    def status(self, now: datetime) -> str:
        """Return the state in a word; what nobody answered in time is ``expired``."""
        end = self.question.expires
        over = end is not None and now >= end
        return "expired" if over and self.state in {"waiting", "answered"} else self.state


def describe(held: Held, now: datetime) -> str:
    """Return in words where a question stands."""
    status, reply = held.status(now), held.reply
    if status == "expired":
        return f"it was over at {held.question.expires:%Y-%m-%d %H:%M:%SZ}"
    if reply is None:
        return "it waits for an answer" if status == "waiting" else "it was asked anew since"
    used = ", and used" if status == "used" else ""
    who = f" ({reply.who})" if reply.who else ""
    return f"answered {reply.answer} by {reply.by}{who} at {reply.time:%Y-%m-%d %H:%M:%SZ}{used}"


def answers(record: QuestionRecord, question: Question) -> bool:
    """Say whether an answer to the kept question is one to this: the same call, asked for the same rule."""
    return (record.session, record.project, record.digest, record.rule) == (
        question.session,
        question.project,
        question.digest,
        question.decision.rule,
    )


def check_reply(record: QuestionRecord, reply: Reply) -> None:
    """Raise UsageError for a yes that reaches further than the question offers."""
    if reply.answer == "yes" and reply.scope not in record.remembers:
        raise UsageError(
            f"question {record.id}: a yes for {reply.scope!r} is not offered; "
            f"it may be for {', '.join(record.remembers)}",
            hint="approvals.scopes of the policy decides; some questions are asked each time anew",
        )
    if reply.widened and (record.pattern is None or reply.scope == "once"):
        why = "only exactly this can be said yes to" if record.pattern is None else "choose a scope"
        raise UsageError(
            f"question {record.id}: a wider yes is not offered: {why}",
            hint=f"glovebox approvals show {record.id} says what each answer is kept for",
        )
