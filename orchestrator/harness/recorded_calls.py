"""The calls of past sessions, from their audit chains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.audit.read import read_bodies
from orchestrator.policy.replay import RecordedCall
from orchestrator.schema.decision import STRICTNESS, Effect
from orchestrator.schema.wire import from_wire


@dataclass(slots=True)
class Recording:
    """What a chain tells of calls."""

    calls: list[RecordedCall] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """Records of calls that cannot be judged again, and why."""


def recorded_calls(path: Path) -> Recording:
    """Return the calls that policy decided on; AuditError for a chain that is broken."""
    found = Recording()
    for seq, kind, body in read_bodies(path):
        if kind not in {"intent", "refused"} or not isinstance(body.get("decision"), Mapping):
            # A call that could not be planned was never decided on.
            continue
        try:
            found.calls.append(_call(path.stem, seq, body))
        except (KeyError, TypeError, ValueError) as err:
            found.skipped.append(f"{path.stem} seq {seq}: {err}")
    return found


def _call(chain: str, seq: int, body: Mapping[str, Any]) -> RecordedCall:
    decision, answer = body["decision"], body.get("answer")
    effect = _effect(decision["effect"])
    return RecordedCall(
        chain=chain,
        seq=seq,
        tool=str(body["tool"]),
        request=from_wire(body["request"]),
        effect=effect,
        rule=str(decision["rule"]),
        answer=None if answer is None else bool(answer["yes"]),
    )


def _effect(told: object) -> Effect:
    for effect in STRICTNESS:
        if effect == told:
            return effect
    raise ValueError(f"effect {told!r} is none of this version")
