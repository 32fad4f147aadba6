"""The question about what would leave the box: the whole URL, who asked, what runs. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta

from orchestrator.confirmation.gate import Question, utc_now
from orchestrator.dispatch.judge import Asking
from orchestrator.dispatch.questions import question_id
from orchestrator.harness.egress.likeness import liken_egress
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import (
    Caller,
    EgressRequest,
    EgressVerdict,
    egress_digest,
    egress_subject,
)

TOOL = "network"
"""Names these questions where others name a tool: in answers files, grants and records."""
MOST_WORDS = 20
SHOWN = 300
"""Characters of a caller's arguments."""


def egress_question(
    request: EgressRequest,
    verdict: EgressVerdict,
    *,
    asking: Asking,
    call: str,
    context: Iterable[str],
    caller: Caller | None,
    scrub: Callable[[str], str] = str,
) -> Question:
    """Return the question; ``call`` is the one that runs, ``context`` says more about the moment.

    ``scrub`` takes known secrets out of what leaves this process.
    """
    digest, now = egress_digest(request), utc_now()
    notes = (*verdict.decision.notes, called_by(caller), *context)
    return Question(
        id=question_id(asking.session, "egress", digest),
        call=call,
        tool=TOOL,
        subject=egress_subject(request),
        cwd="",
        decision=replace(verdict.decision, notes=notes),
        digest=digest,
        scopes=asking.scopes,
        session=asking.session,
        project=asking.project,
        likeness=liken_egress(request, effects=tuple(_effects(request, verdict))),
        recorded=recorded_subject(request),
        created=now,
        expires=now + timedelta(seconds=asking.timeout_s),
        aside=True,
        scrub=scrub,
    )


def recorded_subject(request: EgressRequest) -> str:
    """Return the subject without its query, which may hold what no record should."""
    query = request.target.partition("?")[1]
    bare = replace(request, target=request.path)
    return f"{egress_subject(bare)}?…" if query else egress_subject(bare)


def called_by(caller: Caller | None) -> str:
    """Return who asked, raw; what the box says of its own programs proves nothing."""
    if caller is None:
        return "the box does not say which program asked"
    words = shlex.join(caller.argv[:MOST_WORDS])[:SHOWN]
    return f"as the box says, {caller.program or '?'} asked (pid {caller.pid}): {words}"


def asked_decision(decision: Decision, reason: str) -> Decision:
    """Return the refusal that an ask became."""
    return replace(decision, effect="deny", reason=reason)


def _effects(request: EgressRequest, verdict: EgressVerdict) -> Iterable[str]:
    if request.method is None:
        yield "opens a connection that nobody reads: whatever is sent in it is not seen"
    elif request.announced is not None:
        yield f"sends {request.announced} bytes"
    elif request.method not in {"GET", "HEAD"}:
        yield "sends an unknown number of bytes"
    if request.upgrade:
        yield f"goes on as {request.upgrade}: what is sent in it is not judged"
    if request.overrides:
        yield f"asks the server to take it for {', '.join(request.overrides)}"
    if request.other_paths:
        yield f"asks the server to take its path for {' or '.join(request.other_paths)}"
    for injection in verdict.terms.injections:
        yield f"the secret {injection.secret} is put into it (rule {injection.rule})"
