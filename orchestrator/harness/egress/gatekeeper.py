"""The Gatekeeper: rules, a person where rules ask, the record, and only then the answer.

Whatever fails in it is a no. The proxy is the only one that asks it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import anyio

from orchestrator.confirmation.gate import Answer
from orchestrator.dispatch.judge import Verdict, refusal_text
from orchestrator.dispatch.records import answer_body
from orchestrator.egress.seams import Admission
from orchestrator.errors import AuditError
from orchestrator.harness.egress.asker import EgressAsker
from orchestrator.harness.egress.book import EACH_ALIKE, MOST_REFUSED, EgressBook
from orchestrator.harness.egress.in_force import RulesInForce, Ruling, gate_error
from orchestrator.harness.egress.question import asked_decision
from orchestrator.harness.egress.records import as_ended, decided_body, egress_event, ended_body
from orchestrator.harness.egress.terms import go_on
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import (
    Caller,
    EgressRequest,
    EgressVerdict,
    Scheme,
    Traffic,
    egress_digest,
)
from orchestrator.schema.event_base import Event

AsQuestion = Callable[[EgressRequest, EgressVerdict, Caller | None], Any]
MOST_ROUNDS = 3
"""Times that one request is judged anew because the rules changed under it."""

GAVE_UP = "whoever asked for it was gone before anybody answered"
NO_RECORD = Decision(
    effect="deny",
    rule="no-record",
    layer="floor",
    reason="what leaves cannot be recorded any more, so nothing leaves",
    hint="the session's audit failed; end it and start another",
)


@dataclass(frozen=True, slots=True)
class _Let:
    """Something that was let out and is not over."""

    since: float
    caller: Caller | None
    answer: Answer | None
    asked: Decision | None
    """The ask that was answered."""


class EgressGatekeeper:
    """One session's."""

    def __init__(
        self,
        rules: RulesInForce,
        asker: EgressAsker,
        book: EgressBook,
        *,
        question: AsQuestion,
        stands: Callable[[str], bool],
        observe: Callable[[Event], None],
        scrub: Callable[[str], str],
    ) -> None:
        """``question`` makes what a person is asked; ``stands`` says whether a remembered yes does."""
        self._rules = rules
        self._asker = asker
        self._book = book
        self._question = question
        self._stands = stands
        self._observe = observe
        self._scrub = scrub
        self._let: dict[int, _Let] = {}
        self._late: dict[Any, int] = {}
        """Refusals after a yes, of each kind."""
        self._numbers = 0

    async def admit(self, request: EgressRequest, caller: Caller | None) -> Admission:
        """Return the answer, recorded before it is returned; never raises."""
        try:
            return await self._admit(request, caller)
        except AuditError:
            return self._refusal(request, NO_RECORD)
        except Exception as err:  # noqa: BLE001 - the gate fails closed, whatever broke in it
            return self._refusal(request, gate_error(err))

    async def refused(
        self, request: EgressRequest, decision: Decision, caller: Caller | None
    ) -> None:
        """Put on record what the proxy could not put to the rules; never raises."""
        verdict = EgressVerdict(decision)
        body = decided_body(
            request,
            verdict,
            generation=self._rules.generation,
            caller=caller,
            answered=answer_body(None),
        )
        try:
            written = await self._book.refused((request.host, decision.reason), body)
        except AuditError:
            # The book tells it itself, and nothing was let out.
            return
        if written is not None:
            refusal = Admission(self._number(), request, verdict, self._rules.generation)
            self._tell(refusal, Traffic(), caller)

    def tunnel_scheme(self, host: str, port: int) -> Scheme:
        """Say what a tunnel to this place is read as, by the rules that name it."""
        return self._rules.tunnel_scheme(host, port)

    def still_allows(self, admission: Admission) -> bool:
        """Say whether the rules that are in force now would still let this pass without asking."""
        if self._book.failed or not admission.allowed:
            return False
        now = self._rules.ruling(admission.request).verdict
        let = self._let.get(admission.id)
        if now.decision.effect == "ask":
            return (
                let is not None
                and let.asked is not None
                and (let.asked.rule, let.asked.layer) == (now.decision.rule, now.decision.layer)
                and go_on(admission.verdict.terms, now.terms)
                and self._holds(let.answer)
            )
        return now.decision.effect == "allow" and go_on(admission.verdict.terms, now.terms)

    def passed(self, admission: Admission, traffic: Traffic) -> None:
        """Record and tell the end of what was admitted."""
        let = self._let.pop(admission.id, None)
        if let is None:
            return
        duration_ms = (time.monotonic() - let.since) * 1000
        self._book.note("egress_end", ended_body(admission.id, traffic, duration_ms=duration_ms))
        verdict = as_ended(admission.verdict, traffic)
        if verdict is admission.verdict or self._is_news(admission.request, traffic):
            self._tell(replace(admission, verdict=verdict), traffic, let.caller)

    def lapsed(self) -> bool:
        """Say whether a remembered yes, by which something is open, stands no longer."""
        grants = {let.answer.grant for let in self._let.values() if let.answer is not None}
        return not all(self._stands(grant) for grant in grants if grant)

    async def _admit(self, request: EgressRequest, caller: Caller | None) -> Admission:
        for _ in range(MOST_ROUNDS):
            if self._book.failed:
                return self._refusal(request, NO_RECORD)
            ruling = self._rules.ruling(request)
            asked = ruling.verdict.decision if ruling.verdict.decision.effect == "ask" else None
            answer = await self._ask(request, ruling, caller) if asked else None
            verdict = _answered(ruling.verdict, answer)
            if ruling.generation != self._rules.generation:
                continue
            admission = await self._recorded(
                request, replace(ruling, verdict=verdict), answer, caller
            )
            if not admission.allowed:
                return admission
            if request.door == "dns":
                return admission
            self._let[admission.id] = _Let(time.monotonic(), caller, answer, asked)
            # The record took a moment: what changed meanwhile holds for this one too.
            if ruling.generation == self._rules.generation and not self._book.failed:
                return admission
            self.passed(admission, Traffic(problem="the rules changed before it began"))
        return self._refusal(request, gate_error(RuntimeError("the rules change all the time")))

    async def _ask(self, request: EgressRequest, ruling: Ruling, caller: Caller | None) -> Answer:
        try:
            return await self._asker.ask(self._question(request, ruling.verdict, caller))
        except anyio.get_cancelled_exc_class():
            # Nobody waits for the answer any more; that it was asked for is on record all the same.
            with anyio.CancelScope(shield=True):
                await self._gave_up(request, ruling, caller)
            raise

    async def _gave_up(self, request: EgressRequest, ruling: Ruling, caller: Caller | None) -> None:
        verdict = EgressVerdict(asked_decision(ruling.verdict.decision, GAVE_UP))
        try:
            await self._recorded(request, replace(ruling, verdict=verdict), None, caller)
        except AuditError:
            # The book tells it itself, and nothing was let out.
            return

    async def _recorded(
        self,
        request: EgressRequest,
        ruling: Ruling,
        answer: Answer | None,
        caller: Caller | None,
    ) -> Admission:
        verdict = ruling.verdict
        body = decided_body(
            request,
            verdict,
            generation=ruling.generation,
            caller=caller,
            answered=answer_body(answer),
        )
        by = answer.by if answer is not None else None
        if verdict.decision.effect == "allow":
            # A name that may be looked up is answered in the box: nothing leaves yet.
            seq = 0 if request.door == "dns" else await self._book.decided(body)
            return Admission(seq or self._number(), request, verdict, ruling.generation, by)
        kind = (request.door == "dns", egress_digest(request), verdict.decision.rule, by)
        written = await self._book.refused(kind, body)
        admission = Admission(self._number(), request, verdict, ruling.generation, by)
        if written is not None:
            self._tell(admission, Traffic(), caller)
        return admission

    def _is_news(self, request: EgressRequest, traffic: Traffic) -> bool:
        """Say whether a refusal after a yes is to be told: as of others, few of those alike are."""
        kind = request.host, request.port, request.method, traffic.refused, traffic.problem
        if kind not in self._late and len(self._late) >= MOST_REFUSED:
            return False
        self._late[kind] = self._late.get(kind, 0) + 1
        return self._late[kind] <= EACH_ALIKE

    def _holds(self, answer: Answer | None) -> bool:
        return answer is not None and (not answer.grant or self._stands(answer.grant))

    def _tell(self, admission: Admission, traffic: Traffic, caller: Caller | None) -> None:
        event = egress_event(
            admission.request,
            admission.verdict,
            traffic=traffic,
            answered_by=admission.answered_by,
            caller=caller,
        )
        self._observe(
            replace(
                event,
                path=self._scrub(event.path),
                reason=self._scrub(event.reason),
                problem=self._scrub(event.problem),
                program=self._scrub(event.program),
            )
        )

    def _refusal(self, request: EgressRequest, decision: Decision) -> Admission:
        return Admission(self._number(), request, EgressVerdict(decision), self._rules.generation)

    def _number(self) -> int:
        """Return a number for what has no record; those of records are above zero."""
        self._numbers -= 1
        return self._numbers


def _answered(verdict: EgressVerdict, answer: Answer | None) -> EgressVerdict:
    """Return the verdict after an answer: never an ask any more."""
    decision = verdict.decision
    if answer is None:
        return verdict
    if answer.yes:
        return replace(verdict, decision=replace(decision, effect="allow"))
    reason = refusal_text(Verdict(replace(decision, hint=""), answer, allowed=False))
    return EgressVerdict(asked_decision(decision, reason.replace("\n", "; ")))
