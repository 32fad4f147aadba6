"""What the audit and the events say of things that would leave the box. Pure but for nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orchestrator.harness.egress.question import MOST_WORDS
from orchestrator.schema.egress import (
    Caller,
    EgressRequest,
    EgressVerdict,
    Traffic,
    egress_digest,
)
from orchestrator.schema.event import Egress

GIT_SERVICES = ("git-upload-pack", "git-receive-pack")
MOST_PATH = 2000
"""Characters of a path; the digest is of the whole."""


def decided_body(
    request: EgressRequest,
    verdict: EgressVerdict,
    *,
    generation: int,
    caller: Caller | None,
    answered: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return a decision as audit data; of a query there is the digest alone."""
    decision = verdict.decision
    body: dict[str, Any] = {
        "door": request.door,
        "scheme": request.scheme,
        "host": request.host,
        "port": request.port,
        "method": request.method,
        "path": request.path[:MOST_PATH] if request.method is not None else None,
        "digest": egress_digest(request),
        "effect": decision.effect,
        "rule": decision.rule,
        "layer": decision.layer,
        "reason": decision.reason,
        "generation": generation,
        "answer": answered,
        "caller": caller_body(caller),
    }
    further = {
        "upgrade": request.upgrade,
        "overrides": list(request.overrides),
        "other_paths": [path[:MOST_PATH] for path in request.other_paths],
        "announced": request.announced,
        "service": _git_service(request),
        "inspect": verdict.terms.inspect and request.method is None,
        "injected": [item.secret for item in verdict.terms.injections],
    }
    return body | {key: value for key, value in further.items() if value}


def _git_service(request: EgressRequest) -> str:
    """Return what git asks of a server, which stands in the query; no secret is kept with it."""
    query = request.target.partition("?")[2]
    service = query.removeprefix("service=")
    return service if service in GIT_SERVICES and service != query else ""


def caller_body(caller: Caller | None) -> dict[str, Any] | None:
    """Return the program that the box named."""
    if caller is None:
        return None
    return {
        "pid": caller.pid,
        "program": caller.program,
        "argv": [word[:MOST_PATH] for word in caller.argv[:MOST_WORDS]],
    }


def ended_body(seq: int, traffic: Traffic, *, duration_ms: float) -> dict[str, Any]:
    """Return an end as audit data; ``seq`` is the number of the record that it is the end of."""
    body = {
        "egress": seq,
        "bytes_up": traffic.bytes_up,
        "bytes_down": traffic.bytes_down,
        "status": traffic.status,
        "address": traffic.address,
        "problem": traffic.problem,
        "duration_ms": round(duration_ms),
    }
    return body | ({"refused": traffic.refused} if traffic.refused else {})


def as_ended(verdict: EgressVerdict, traffic: Traffic) -> EgressVerdict:
    """Return what became of a yes: a no, where the proxy refused after it what was let out."""
    if not traffic.refused:
        return verdict
    decision = verdict.decision
    return replace(
        verdict,
        decision=replace(
            decision,
            effect="deny",
            rule=traffic.refused,
            layer=refusing_layer(traffic.refused, decision.rule, decision.layer),
            reason=traffic.problem,
        ),
    )


def refusing_layer(refused: str, rule: str, layer: str) -> str:
    """Return whose a late refusal is: the layer's whose rule said yes within bounds, or nobody's."""
    return layer if refused == rule else "floor"


def egress_event(
    request: EgressRequest,
    verdict: EgressVerdict,
    *,
    traffic: Traffic,
    answered_by: str | None,
    caller: Caller | None,
) -> Egress:
    """Return the event of a refusal, or of the end of what was let out."""
    decision = verdict.decision
    return Egress(
        host=request.host,
        port=request.port,
        scheme=request.scheme,
        method=request.method,
        path=request.path[:MOST_PATH],
        effect=decision.effect,
        rule=decision.rule,
        layer=decision.layer,
        reason=decision.reason,
        bytes_up=traffic.bytes_up,
        bytes_down=traffic.bytes_down,
        status=traffic.status,
        problem=traffic.problem,
        answered_by=answered_by,
        program=caller.program if caller is not None else "",
    )
