"""Which skill was on at a place of a session: its last ``skill_change`` there, read from disk. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from orchestrator.sessions.entry import Entry

By = Literal["user", "trigger", "model"]
CHOOSERS: tuple[By, ...] = ("user", "trigger", "model")


@dataclass(frozen=True, slots=True)
class Past:
    """A skill that was on."""

    skill: str
    by: By
    confidence: float
    digest: str | None
    """Of all its files, as they were then."""
    rules: str | None
    """Of what it took away; None where an older version did not keep it."""


def past_skill(path: Sequence[Entry]) -> Past | None:
    """Return the skill that is on at the end of a path; None where none is."""
    body = next((entry.body for entry in reversed(path) if entry.type == "skill_change"), {})
    skill, confidence = body.get("skill"), body.get("confidence")
    if not isinstance(skill, str):
        return None
    # A choice ends by itself, a person's word does not: what is not known counts as theirs.
    by: By = next((known for known in CHOOSERS if known == body.get("by")), "user")
    sure = confidence if isinstance(confidence, int | float) else 1.0
    return Past(skill, by, float(sure), _text(body.get("digest")), _text(body.get("rules")))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
