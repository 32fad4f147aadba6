"""One question on its way: asked is recorded before anybody can answer, the answer before it counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from orchestrator.confirmation.gate import Answer, Confirmer, Question
from orchestrator.confirmation.scopes import offered
from orchestrator.dispatch.records import AuditSink, answer_body, question_body
from orchestrator.schema.event import ApprovalAnswer, ApprovalRequest, Observer
from orchestrator.schema.ids import Digest, digest_of


class Questions:
    """Puts questions to whoever answers, about calls and about what would leave the box."""

    def __init__(
        self,
        confirmer: Confirmer,
        audit: AuditSink,
        *,
        timeout_s: float,
        observe: Observer,
        scrub: Callable[[str], str],
    ) -> None:
        """``timeout_s`` seconds are given to each answer; ``scrub`` keeps secrets out of records."""
        self._confirmer = confirmer
        self._audit = audit
        self._timeout_s = timeout_s
        self._observe = observe
        self._scrub = scrub

    async def put(self, question: Question) -> Answer:
        """Return the answer, on record; AuditUnavailable where there can be no record."""
        told = question_body(question)
        self._audit.append("approval_asked", {"call": question.call, **told})
        self._observe(ApprovalRequest(id=question.id, call=question.call, question=told))
        answer = await self._confirmer.ask(question, timeout_s=self._timeout_s)
        answer = self._checked(question, answer)
        body = {"call": question.call, "question": question.id, "digest": question.digest}
        self._audit.append("approval", {**body, **(answer_body(answer) or {})})
        for late in answer.lost:
            self._audit.append("approval_lost", {**body, **(answer_body(late) or {})})
        word = "yes" if answer.yes else "no"
        self._observe(ApprovalAnswer(question.id, word, answer.scope, answer.by))
        return answer

    def _checked(self, question: Question, answer: Answer) -> Answer:
        """Return the answer without secrets, and no wider than policy offers."""
        scope = answer.scope if answer.scope in offered(question) else "once"
        lost = tuple(replace(late, reason=self._scrub(late.reason)) for late in answer.lost)
        return replace(answer, scope=scope, reason=self._scrub(answer.reason), lost=lost)


def question_id(session: str, call: str, digest: Digest) -> str:
    """Return the id of a question: the same for the same call of a session, also after a restart."""
    return digest_of(f"{session}\0{call}\0{digest}".encode()).partition(":")[2][:12]
