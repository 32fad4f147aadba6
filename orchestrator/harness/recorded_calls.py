"""The calls of past sessions, and what would have left their boxes, from their audit chains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from orchestrator.audit.read import read_bodies
from orchestrator.policy.judged import EGRESS
from orchestrator.policy.replay import RecordedCall
from orchestrator.schema.decision import STRICTNESS, Effect
from orchestrator.schema.egress import Door, EgressRequest, Scheme
from orchestrator.schema.wire import from_wire


@dataclass(slots=True)
class Recording:
    """What a chain tells of calls and of requests out of the box."""

    calls: list[RecordedCall] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """Records of calls that cannot be judged again, and why."""


def recorded_calls(path: Path) -> Recording:
    """Return the calls that policy decided on; AuditError for a chain that is broken."""
    found = Recording()
    for seq, kind, body in read_bodies(path):
        if kind == "egress":
            _add_egress(found, path.stem, seq, body)
            continue
        if not _was_judged(kind, body):
            # A call that could not be planned was never decided on.
            continue
        try:
            found.calls.append(_call(path.stem, seq, body))
        except (KeyError, TypeError, ValueError) as err:
            found.skipped.append(f"{path.stem} seq {seq}: {err}")
    return found


def _was_judged(kind: str, body: Mapping[str, Any]) -> bool:
    if kind == "client_call" and body.get("request") is None:
        # A wrapped agent's tool that policy knows by its name alone.
        return False
    kinds = {"intent", "refused", "client_call"}
    return kind in kinds and isinstance(body.get("decision"), Mapping)


def _add_egress(found: Recording, chain: str, seq: int, body: Mapping[str, Any]) -> None:
    if body.get("door") == "model" or body.get("inspect"):
        # The one is judged by the models that are allowed, the other was opened to be looked into.
        return
    try:
        told = _Leaving.model_validate(body)
    except ValidationError as err:
        where = ".".join(map(str, err.errors()[0]["loc"]))
        found.skipped.append(f"{chain} seq {seq}: {where} is none of this version")
        return
    found.calls.append(
        RecordedCall(
            chain=chain,
            seq=seq,
            tool=EGRESS,
            request=told.request(),
            effect="ask" if told.answer is not None else told.effect,
            rule=told.rule,
            answer=None if told.answer is None else told.answer.yes,
            injected=told.injected,
        )
    )


class _Answered(BaseModel):
    yes: bool


class _Leaving(BaseModel):
    """A record of what would leave the box; its query is not kept."""

    door: Door
    scheme: Scheme
    host: str
    port: int
    method: str | None
    path: str | None
    effect: Effect
    rule: str
    answer: _Answered | None = None
    service: str = ""
    upgrade: str = ""
    overrides: tuple[str, ...] = ()
    injected: tuple[str, ...] = ()
    other_paths: tuple[str, ...] = ()

    def request(self) -> EgressRequest:
        return EgressRequest(
            door=self.door,
            scheme=self.scheme,
            host=self.host,
            port=self.port,
            method=self.method,
            target=(self.path or "") + (f"?service={self.service}" if self.service else ""),
            upgrade=self.upgrade,
            overrides=self.overrides,
            other_paths=self.other_paths,
        )


def _call(chain: str, seq: int, body: Mapping[str, Any]) -> RecordedCall:
    decision, answer = body["decision"], body.get("answer")
    effect = _effect(decision["effect"])
    return RecordedCall(
        chain=chain,
        seq=seq,
        tool=str(body.get("known_as") or body["tool"]),
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
