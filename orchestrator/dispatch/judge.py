"""Policy's verdict and, where it asks, a person's answer to exactly what will run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from orchestrator.confirmation.gate import Answer, Confirmer, Question, Scope
from orchestrator.dispatch.records import AuditSink, answer_body
from orchestrator.schema.decision import Decision
from orchestrator.schema.event import ApprovalAnswer, ApprovalRequest, DecisionMade, Observer
from orchestrator.schema.ids import CallId
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
        confirmer: Confirmer,
        audit: AuditSink,
        *,
        observe: Observer,
        scrub: Scrub,
        timeout_s: float,
        stop_when_nobody: bool,
        scopes: tuple[Scope, ...] = ("once", "session"),
    ) -> None:
        """``timeout_s`` bounds one answer, ``scopes`` how long it may hold; ``scrub`` keeps secrets out of events."""
        self._evaluate = evaluate
        self._confirmer = confirmer
        self._audit = audit
        self._observe = observe
        self._scrub = scrub
        self._timeout_s = timeout_s
        self._stop_when_nobody = stop_when_nobody
        self._scopes = scopes

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
        question = Question(
            id=f"ask-{call.id}",
            call=call.id,
            tool=call.name,
            subject=request_subject(request),
            cwd=request_cwd(request),
            decision=decision,
            digest=request_digest(request),
            scopes=self._scopes,
            body=body_of(request),
        )
        self._observe(
            ApprovalRequest(
                id=question.id,
                call=call.id,
                question={
                    "tool": call.name,
                    "subject": self._scrub(question.subject),
                    "cwd": question.cwd,
                    "reason": self._scrub(decision.reason),
                    "rule": decision.rule,
                    "digest": question.digest,
                },
            )
        )
        answer = await self._confirmer.ask(question, timeout_s=self._timeout_s)
        answer = replace(answer, reason=self._scrub(answer.reason))
        body = {"call": call.id, "digest": question.digest, **(answer_body(answer) or {})}
        self._audit.append("approval", body)
        word = "yes" if answer.yes else "no"
        self._observe(ApprovalAnswer(question.id, word, answer.scope, answer.by))
        if self._stop_when_nobody and answer.by == "nobody":
            raise NeedsApprovalError(call.id, question)
        return answer


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
        said = {"nobody": "nobody could be asked", "timeout": "nobody answered in time"}
        by = said.get(answer.by, "the answer was no") if answer else "no answer"
        lines = [
            f"Not run: this needs a person's yes and {by} ({decision.rule}: {decision.reason})"
        ]
        if answer and answer.reason:
            lines.append(f"Reason given: {answer.reason}")
    if decision.hint:
        lines.append(f"Instead: {decision.hint}")
    return "\n".join(lines)
