"""Policy's verdict and, where it asks, a person's answer to exactly what will run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from orchestrator.confirmation.gate import Answer, Confirmer, Question, Scope, utc_now
from orchestrator.dispatch.questions import Questions, question_id
from orchestrator.dispatch.records import AuditSink
from orchestrator.schema.decision import Decision
from orchestrator.schema.event import DecisionMade, Observer
from orchestrator.schema.ids import CallId
from orchestrator.schema.likeness import Likeness
from orchestrator.schema.message import ToolCall
from orchestrator.schema.request import (
    EditRequest,
    Request,
    WriteRequest,
    request_cwd,
    request_digest,
    request_subject,
)

Evaluate = Callable[[Request, str], Decision]
"""Policy bound to a session: a request and the tool's name in, a decision out; never raises."""

Scrub = Callable[[str], str]

Liken = Callable[[Request], Likeness]
"""What a request amounts to, for the person; asked for only where somebody is asked."""


def unlike(request: Request) -> Likeness:  # noqa: ARG001 - the form of Liken
    """Return nothing: the question shows the request alone."""
    return Likeness()


@dataclass(frozen=True, slots=True)
class Asking:
    """Who is asked, about what, and how far an answer may reach."""

    confirmer: Confirmer
    timeout_s: float
    """Seconds for one answer."""
    stop_when_nobody: bool = False
    scopes: tuple[Scope, ...] = ("once", "session")
    """How long a yes may hold, as policy allows."""
    session: str = ""
    project: str = ""
    """The host's directory."""
    liken: Liken = unlike


class NeedsApprovalError(Exception):
    """Raised under ``--on-ask stop`` when nobody can answer: the run ends resumably."""

    def __init__(self, call: CallId, question: Question) -> None:
        """Keep which call waits, and for what."""
        super().__init__(f"call {call} waits for an answer")
        self.call = call
        self.question = question


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may happen; ``allowed`` is the only thing that opens the box."""

    decision: Decision
    answer: Answer | None
    allowed: bool


class Judge:
    """Asks policy, and a person where policy says so."""

    def __init__(
        self,
        evaluate: Evaluate,
        asking: Asking,
        audit: AuditSink,
        *,
        observe: Observer,
        scrub: Scrub,
    ) -> None:
        """``scrub`` keeps secrets out of events, records and all that leaves the terminal."""
        self._evaluate = evaluate
        self._asking = asking
        self._questions = Questions(
            asking.confirmer, audit, timeout_s=asking.timeout_s, observe=observe, scrub=scrub
        )
        self._observe = observe
        self._scrub = scrub

    async def judge(self, call: ToolCall, request: Request) -> Verdict:
        """Return the verdict on one request; raises NeedsApprovalError."""
        decision = self._evaluate(request, call.name)
        answer = await self._ask(call, request, decision) if decision.effect == "ask" else None
        self._observe(
            DecisionMade(
                call=call.id,
                effect=decision.effect,
                rule=decision.rule,
                layer=decision.layer,
                reason=self._scrub(decision.reason),
                risks=decision.risks,
                span=decision.span,
                answered_by=answer.by if answer else None,
            )
        )
        allowed = decision.effect == "allow" or (answer is not None and answer.yes)
        return Verdict(decision, answer, allowed)

    async def _ask(self, call: ToolCall, request: Request, decision: Decision) -> Answer:
        question = self._question(call, request, decision)
        answer = await self._questions.put(question)
        if self._asking.stop_when_nobody and answer.by == "nobody":
            raise NeedsApprovalError(call.id, question)
        return answer

    def _question(self, call: ToolCall, request: Request, decision: Decision) -> Question:
        now, digest, asking = utc_now(), request_digest(request), self._asking
        return Question(
            id=question_id(asking.session, call.id, digest),
            call=call.id,
            tool=call.name,
            subject=request_subject(request),
            cwd=request_cwd(request),
            decision=decision,
            digest=digest,
            scopes=asking.scopes,
            body=body_of(request),
            session=asking.session,
            project=asking.project,
            likeness=asking.liken(request),
            created=now,
            expires=now + timedelta(seconds=asking.timeout_s),
            scrub=self._scrub,
        )


def body_of(request: Request) -> str:
    """Return the content that would be written, for the question."""
    if isinstance(request, WriteRequest):
        return request.content
    if isinstance(request, EditRequest):
        return "\n".join(f"- {edit.old}\n+ {edit.new}" for edit in request.edits)
    return ""


def refusal_text(verdict: Verdict) -> str:
    """Return what the model is told of a call that was not allowed."""
    decision, answer = verdict.decision, verdict.answer
    if decision.effect == "deny":
        lines = [f"Refused by policy ({decision.rule}): {decision.reason}"]
    else:
        said = {
            "nobody": "nobody could be asked",
            "timeout": "nobody answered in time",
            "limit": "no more questions are asked now",
            "unaskable": "it cannot be shown whole to anybody",
        }
        by = said.get(answer.by, "the answer was no") if answer else "no answer"
        lines = [
            f"Not run: this needs a person's yes and {by} ({decision.rule}: {decision.reason})"
        ]
        if answer and answer.reason:
            lines.append(f"Reason given: {answer.reason}")
    if decision.hint:
        lines.append(f"Instead: {decision.hint}")
    return "\n".join(lines)
