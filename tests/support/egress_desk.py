"""A gatekeeper put together for tests: real audit, real grants, real memory, a scripted person."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.confirmation.channels import RacingConfirmer
from orchestrator.confirmation.gate import Confirmer
from orchestrator.confirmation.grants import Grants
from orchestrator.confirmation.inbox import Inbox
from orchestrator.confirmation.memory import RememberingConfirmer
from orchestrator.dispatch.judge import Asking
from orchestrator.dispatch.questions import Questions
from orchestrator.harness.egress.asker import EgressAsker
from orchestrator.harness.egress.book import EgressBook
from orchestrator.harness.egress.gatekeeper import EgressGatekeeper
from orchestrator.harness.egress.in_force import Rules, RulesInForce
from orchestrator.harness.egress.question import egress_question
from orchestrator.harness.egress.standing import StandingGrants
from orchestrator.redaction.redactor import Redactor
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import Caller, EgressRequest, EgressVerdict, Scheme, Terms
from orchestrator.schema.event_base import Event
from orchestrator.schema.ids import SessionId, digest_of
from tests.support.asking import ALL, Someone

SESSION = SessionId("0123456789ab")
SECRET = "correct-horse-battery-staple-7"
CURL = Caller(12, "/usr/bin/curl", ("curl", "-sS", "https://api.example/v1/items"))
GET = EgressRequest("inspected", "https", "api.example", 443, "GET", "/v1/items?id=1")
TUNNEL = EgressRequest("connect", "https", "api.example", 443)


@dataclass
class Judged:
    """Rules that are a function; may be called as one."""

    by: Callable[[EgressRequest], EgressVerdict]
    scheme: Scheme = "https"

    def judge(self, request: EgressRequest) -> EgressVerdict:
        return self.by(request)

    def tunnel_scheme(self, host: str, port: int) -> Scheme:  # noqa: ARG002 - the Protocol's form
        return self.scheme

    def __call__(self, request: EgressRequest) -> EgressVerdict:
        return self.by(request)


def says(effect: str, *, rule: str = "rule-1", terms: Terms | None = None, **more: Any) -> Judged:
    """Return rules that say the same of everything."""

    def judge(_: EgressRequest) -> EgressVerdict:
        decision = Decision(effect, rule, "session", "because", **more)  # type: ignore[arg-type]
        return EgressVerdict(decision, terms or Terms())

    return Judged(judge)


@dataclass
class HookedChain:
    """A chain, and what happens while a decision is written to it."""

    audit: AuditLog
    meanwhile: list[Callable[[], None]] = field(default_factory=list)

    def append_all(self, entries: Sequence[tuple[str, Mapping[str, Any]]], /) -> list[int]:
        return self.audit.append_all(entries)

    def append_soon(self, kind: str, body: Mapping[str, Any], /) -> int:
        while self.meanwhile:
            self.meanwhile.pop()()
        return self.audit.append_soon(kind, body)

    def sync(self) -> None:
        self.audit.sync()


@dataclass
class EgressDesk:
    """A gatekeeper with everything around it in reach."""

    gatekeeper: EgressGatekeeper
    rules: RulesInForce
    grants: Grants
    audit_file: Path
    someone: Someone
    chain: HookedChain
    events: list[Event] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def bodies(self, kind: str) -> list[dict[str, Any]]:
        """Return the bodies of one kind of record, as they are on disk now."""
        found = (json.loads(line) for line in self.audit_file.read_bytes().splitlines())
        return [item["body"] for item in found if item["type"] == kind]

    def lock_audit(self) -> None:
        """Make every further record fail: something else wrote to the chain."""
        with self.audit_file.open("ab") as file:
            file.write(b"x")

    def everything_written(self) -> str:
        """Return all that observers and the audit were given, as one text."""
        return repr(self.events) + self.audit_file.read_text()


@asynccontextmanager
async def open_egress_desk(
    folder: Path,
    rules: Rules,
    *,
    someone: Someone | None = None,
    answers: Sequence[Any] = (),
    confirmer: Confirmer | None = None,
    timeout_s: float = 5.0,
) -> AsyncIterator[EgressDesk]:
    """Put a gatekeeper together, for the time of the block."""
    audit_file = folder / "audit" / f"{SESSION}.jsonl"
    signer = Signer.load(folder / "keys")
    audit = AuditLog.create(audit_file, session=SESSION, genesis={}, signer=signer)
    redactor, events, failures = Redactor({"acme": SECRET}), list[Event](), list[str]()
    grants, person = Grants(folder / "grants"), someone or Someone(*answers)
    asking = Asking(
        confirmer
        or RememberingConfirmer(
            RacingConfirmer([person], note=failures.append),
            grants=grants,
            inbox=Inbox(folder / "questions"),
        ),
        timeout_s=timeout_s,
        scopes=ALL,
        session=SESSION,
        project="/home/ann/shop",
    )
    questions = Questions(
        asking.confirmer, audit, timeout_s=timeout_s, observe=events.append, scrub=redactor.redact
    )
    standing = StandingGrants(grants)
    asker = EgressAsker(questions, stands=standing.stands, unspent_s=60.0)
    chain = HookedChain(audit)
    book = EgressBook(
        chain, scrub=redactor.redact_json, on_failure=lambda: failures.append("no record")
    )
    in_force = RulesInForce(rules, digest_of(b"policy"))
    gatekeeper = EgressGatekeeper(
        in_force,
        asker,
        book,
        question=lambda request, verdict, caller: egress_question(
            request,
            verdict,
            asking=asking,
            call="call_1",
            context=("while it runs",),
            caller=caller,
        ),
        stands=standing.stands,
        observe=events.append,
        scrub=redactor.redact,
    )
    try:
        async with book.running(), asker.running():
            yield EgressDesk(
                gatekeeper, in_force, grants, audit_file, person, chain, events, failures
            )
    finally:
        if not failures:
            audit.close()
