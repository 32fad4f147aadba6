"""The audit bodies of one tool call: the intent before the effect, the outcome after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from orchestrator.confirmation.gate import Answer, Question
from orchestrator.confirmation.scopes import offered
from orchestrator.schema.decision import Decision
from orchestrator.schema.ids import digest_of
from orchestrator.schema.message import ToolCall, ToolResult
from orchestrator.schema.request import Request, request_digest, to_wire


class AuditSink(Protocol):
    """Where records go; raises AuditUnavailable when one cannot be written."""

    def append(self, kind: str, body: Mapping[str, Any], /) -> int:
        """Write one record and return its number once it is on disk."""
        ...


def decision_body(decision: Decision) -> dict[str, Any]:
    """Return a decision as audit data."""
    return {
        "effect": decision.effect,
        "rule": decision.rule,
        "layer": decision.layer,
        "reason": decision.reason,
        "risks": list(decision.risks),
        "span": list(decision.span) if decision.span else None,
    }


def answer_body(answer: Answer | None) -> dict[str, Any] | None:
    """Return an answer as audit data; None where nobody had to be asked."""
    if answer is None:
        return None
    said = {"yes": answer.yes, "by": answer.by, "scope": answer.scope, "reason": answer.reason}
    known = {
        "who": answer.who,
        "via": answer.via,
        "widened": answer.widened,
        "grant": answer.grant,
    }
    return said | {name: value for name, value in known.items() if value}


def question_body(question: Question) -> dict[str, Any]:
    """Return what is asked as audit and event data, without secrets; content is in the intent."""
    scrub, decision, pattern = question.scrub, question.decision, question.likeness.pattern
    return {
        "id": question.id,
        "tool": question.tool,
        "subject": scrub(question.recorded or question.subject),
        "cwd": question.cwd,
        "effects": [scrub(line) for line in question.likeness.effects],
        "risks": list(decision.risks),
        "reason": scrub(decision.reason),
        "rule": decision.rule,
        "layer": decision.layer,
        "digest": question.digest,
        "scopes": list(offered(question)),
        "pattern": scrub(pattern.text) if pattern is not None else None,
        "created": question.created.isoformat(timespec="seconds"),
        "expires": question.expires.isoformat(timespec="seconds") if question.expires else None,
    }


def intent_body(
    call: ToolCall, request: Request, decision: Decision, *, answer: Answer | None
) -> dict[str, Any]:
    """Return what is about to happen, and why it may."""
    return {
        "call": call.id,
        "tool": call.name,
        "request": to_wire(request),
        "digest": request_digest(request),
        "decision": decision_body(decision),
        "answer": answer_body(answer),
    }


def refusal_body(
    call: ToolCall,
    reason: str,
    *,
    request: Request | None,
    decision: Decision | None,
    answer: Answer | None,
) -> dict[str, Any]:
    """Return what will not happen, and why."""
    return {
        "call": call.id,
        "tool": call.name,
        "request": to_wire(request) if request is not None else None,
        "raw_arguments": None if request is not None else call.raw_arguments[:2000],
        "decision": decision_body(decision) if decision is not None else None,
        "answer": answer_body(answer),
        "reason": reason,
    }


def outcome_body(
    result: ToolResult,
    *,
    duration_ms: float,
    data: Mapping[str, Any],
    execs: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return how it ended; the output by digest and size, its plain facts by value.

    ``execs`` are the fields about what a command started, see ``Watched``.
    """
    text = result.output.encode("utf-8", "replace")
    facts = (
        "exit_code",
        "signal",
        "timed_out",
        "cancelled",
        "limit",
        "total_bytes",
        "bytes",
        "created",
    )
    return {
        "call": result.call,
        "tool": result.name,
        "is_error": result.is_error,
        "output_digest": digest_of(text),
        "output_bytes": len(text),
        "facts": {name: data[name] for name in facts if name in data},
        "duration_ms": round(duration_ms),
        **(execs or {}),
    }
