"""The desk of the model endpoint: each call in the audit before it leaves, and its end; an event.

Refusals that repeat are counted: a program in a loop must not fill the host's disk. The last count
of each kind is written when the session ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from anyio import to_thread

from orchestrator.dispatch.records import AuditSink
from orchestrator.egress.endpoint.model_call import CallOutcome, ModelCall
from orchestrator.errors import AuditError
from orchestrator.schema.codec import encode_usage
from orchestrator.schema.event import ErrorRaised, ModelCallInBox, Observer

EACH_ALIKE = 3
"""Refusals of one kind that have a record each; then every tenth, hundredth and so on has."""

MOST_KINDS = 2000
"""Refusals that are told apart by rule and name; the rest are counted together."""
OTHERS = ("", "")
OTHER_NAMES = {"rule": "several", "asked": "(other names)"}
"""What their record has in the place of one name."""

Scrub = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Chain(AuditSink, Protocol):
    """The session's audit."""

    def append_soon(self, kind: str, body: Mapping[str, Any], /) -> int:
        """Write a record and return its number once the kernel has it."""
        ...


class ModelCallDesk:
    """Writes to one session's chain."""

    def __init__(self, audit: Chain, *, scrub: Scrub, observe: Observer) -> None:
        """``scrub`` takes secrets out of what is written and told."""
        self._audit = audit
        self._scrub = scrub
        self._observe = observe
        self._refused: Counter[tuple[str, str]] = Counter()
        self._unwritten: dict[tuple[str, str], Mapping[str, Any]] = {}
        """The last refusal of a kind, where none after the written ones has a record."""
        self._failed = False

    async def begin(self, call: ModelCall) -> None:
        """Return when it is in the chain; AuditError where it cannot be.

        The disk has it within a second: waiting for that would hold up a model's first word.
        """
        body = self._scrub(called_body(call))
        if call.effect == "deny":
            kind = (call.rule, call.asked or call.path)
            if kind not in self._refused and len(self._refused) >= MOST_KINDS:
                kind = OTHERS
            self._refused[kind] += 1
            count = self._refused[kind]
            body = {**body, "count": count, **(OTHER_NAMES if kind == OTHERS else {})}
            if count > EACH_ALIKE and str(count).strip("0") != "1":
                self._unwritten[kind] = body
                return
            self._unwritten.pop(kind, None)
        self._audit.append_soon("model_call_in_box", body)
        if call.effect == "deny":
            self._tell(call, CallOutcome(None))

    async def end(self, call: ModelCall, outcome: CallOutcome) -> None:
        """Record and tell it; where it cannot be recorded that is told, and no call follows."""
        try:
            ended = ended_body(call, outcome)
            await to_thread.run_sync(self._audit.append, "model_call_in_box_end", ended)
        except AuditError as error:
            self._lost(error)
        self._tell(call, outcome)

    async def flush(self) -> None:
        """Record how often each kind was refused, where the records so far tell too few."""
        try:
            while self._unwritten:
                body = self._unwritten.popitem()[1]
                await to_thread.run_sync(self._audit.append, "model_call_in_box", body)
        except AuditError as error:
            self._lost(error)

    def _lost(self, error: AuditError) -> None:
        if not self._failed:
            self._failed = True
            self._observe(ErrorRaised("audit", error.message, error.hint))

    def _tell(self, call: ModelCall, outcome: CallOutcome) -> None:
        told = self._scrub({"path": call.path, "asked": call.asked, "reason": call.reason})
        self._observe(
            ModelCallInBox(
                number=call.number,
                effect=call.effect,
                rule=call.rule,
                reason=told["reason"],
                provider=call.provider,
                model=call.model,
                asked=told["asked"],
                path=told["path"],
                status=outcome.status,
                usage=encode_usage(outcome.usage) if outcome.usage else {},
                estimated=outcome.estimated,
                cost_usd=outcome.cost_usd,
                bytes_up=outcome.bytes_up,
                bytes_down=outcome.bytes_down,
                duration_ms=outcome.duration_ms,
                problem=outcome.problem,
            )
        )


def called_body(call: ModelCall) -> dict[str, Any]:
    """Return the record of a call that is about to leave, or was refused."""
    caller = call.caller
    return {
        "number": call.number,
        "effect": call.effect,
        "rule": call.rule,
        "reason": call.reason,
        "provider": call.provider,
        "model": call.model,
        "asked": call.asked,
        "method": call.method,
        "path": call.path,
        "body_bytes": call.body_bytes,
        "body_digest": call.body_digest,
        "changes": list(call.changes),
        "caller": {"pid": caller.pid, "program": caller.program, "argv": list(caller.argv)}
        if caller
        else None,
    }


def ended_body(call: ModelCall, outcome: CallOutcome) -> dict[str, Any]:
    """Return the record of a call's end; money as text, since a chain holds no fractions."""
    return {
        "number": call.number,
        "status": outcome.status,
        "usage": encode_usage(outcome.usage) if outcome.usage else None,
        "estimated": outcome.estimated,
        "cost_usd": None if outcome.cost_usd is None else f"{outcome.cost_usd:.6f}",
        "bytes_up": outcome.bytes_up,
        "bytes_down": outcome.bytes_down,
        "duration_ms": round(outcome.duration_ms),
        "problem": outcome.problem,
    }
