"""Who answers asks in a run: flags, settings and policy decide, and the answers given are remembered."""

from __future__ import annotations

import os
from pathlib import Path

from orchestrator.confirmation.answers import (
    BlanketConfirmer,
    NobodyConfirmer,
    load_answers,
)
from orchestrator.confirmation.channels import Channel, RacingConfirmer
from orchestrator.confirmation.gate import Confirmer
from orchestrator.confirmation.inbox_channel import InboxChannel, KeepingConfirmer
from orchestrator.confirmation.limit import LimitedConfirmer
from orchestrator.confirmation.memory import RememberingConfirmer
from orchestrator.confirmation.scopes import in_order
from orchestrator.dispatch.judge import Asking
from orchestrator.dispatch.records import AuditSink, answer_body
from orchestrator.errors import UsageError
from orchestrator.harness.desk import Desk
from orchestrator.harness.options import RunOptions
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.likeness import liken
from orchestrator.schema.ids import SessionId


def confirmer_for(options: RunOptions, person: Channel | None, desk: Desk) -> Confirmer:
    """Return the confirmer of a run; ``person`` is the front door's own, None where nobody is there."""
    answering = _answering(options, person, desk)
    if options.yolo and not desk.exact_only:
        answering = BlanketConfirmer(answering)
    return RememberingConfirmer(answering, grants=desk.grants, inbox=desk.inbox)


def _answering(options: RunOptions, person: Channel | None, desk: Desk) -> Confirmer:
    approve = options.approve
    if approve not in {None, "ask", "deny"}:
        path = Path(str(approve))
        if not os.path.lexists(path):
            raise UsageError(
                f"--approve {approve}: expected ask, deny or an answers file, found no such file"
            )
        return load_answers(path, exact_only=desk.exact_only)
    asking = _people(approve, person, desk)
    if options.on_ask == "deny":
        return asking
    announce = desk.notice.tell if desk.notice else None
    return KeepingConfirmer(asking, desk.inbox, note=desk.note, announce=announce)


def _people(approve: str | None, person: Channel | None, desk: Desk) -> Confirmer:
    """Return everybody who can be reached now; without anybody, and without a wish to wait, nobody."""
    there = [channel for channel in (person, desk.webhook) if channel is not None]
    if approve == "deny" or (approve is None and not there):
        return NobodyConfirmer()
    told = desk.note if person is None else None
    channels = [*there, InboxChannel(desk.inbox, note=told)]
    announce = desk.notice.tell if desk.notice else None
    racing = RacingConfirmer(channels, note=desk.note, announce=announce)
    return LimitedConfirmer(racing, per_hour=desk.questions_per_hour)


def asking_under(
    policy: EffectivePolicy, confirmer: Confirmer, options: RunOptions, *, session: SessionId
) -> Asking:
    """Return how a session's questions are put, within what policy allows."""
    return Asking(
        confirmer,
        timeout_s=policy.approvals.timeout,
        stop_when_nobody=options.on_ask == "stop",
        scopes=in_order(policy.approvals.scopes),
        session=session,
        project=str(options.directory),
        liken=lambda request: liken(policy.box, request),
    )


def record_late(desk: Desk, session: str, audit: AuditSink) -> None:
    """Record answers that came to a session's questions after they were answered."""
    for question, reply in desk.inbox.drain_late(session):
        body = answer_body(reply.as_answer()) or {}
        facts = {"call": question.call, "question": question.id, "digest": question.digest}
        audit.append("approval_lost", {**facts, **body})
