"""Which skill a person means: said outright, or by the triggers of one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pathspec import GitIgnoreSpec

from orchestrator.skills.skill import Skill

LOOKED_AT = 2_000
"""Characters of what was said; who wants a skill says so at the start."""
WORD, PATTERN, GLOB = 0.5, 0.8, 0.4
"""How sure one hit of each kind makes; further hits add to it, and one word alone is not enough."""
SURE = 0.6
"""From here on a skill is switched on."""
MARGIN = 0.1
"""By which it must be ahead of the next."""
_SAID = re.compile(
    r"\s*/skill(?::|[ \t]+)(?P<name>[A-Za-z0-9_-]+)(?:\s+(?P<rest>.*))?\Z", re.DOTALL
)
_PATH = re.compile(r"[\w./~-]*[\w-]\.\w{1,8}\b|[\w.-]+/[\w./-]+")
OFF = frozenset({"off", "none"})
AUTO = "auto"
"""Leaves it to what is said next."""


@dataclass(frozen=True, slots=True)
class Match:
    """A skill that was chosen, and why."""

    skill: str
    confidence: float
    """0 to 1."""
    by: Literal["user", "trigger", "model"]
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """``/skill NAME rest``."""

    skill: str | None
    """None for ``off``; ``auto`` is no skill's name."""
    rest: str
    """What was said besides."""


def said_skill(text: str) -> Said | None:
    """Return what a line says of skills outright; None for any other text."""
    found = _SAID.match(text)
    if found is None:
        return None
    name, rest = found["name"], (found["rest"] or "").strip()
    return Said(None if name in OFF else name, rest)


def by_triggers(text: str, skills: Iterable[Skill], *, files: Sequence[str] = ()) -> Match | None:
    """Return the one skill whose triggers speak for it clearly enough; None where none does, or two do.

    ``files`` are paths that are at hand besides those that the text names.
    """
    looked = text.strip()[:LOOKED_AT]
    paths = (*_PATH.findall(looked), *files)
    scored = [_score(skill, looked, paths) for skill in skills if not skill.by_name_only]
    scored.sort(key=lambda match: (-match.confidence, match.skill))
    if not scored or scored[0].confidence < SURE:
        return None
    if len(scored) > 1 and scored[0].confidence - scored[1].confidence < MARGIN:
        return None
    return scored[0]


def _score(skill: Skill, text: str, paths: Sequence[str]) -> Match:
    triggers, why, doubt = skill.triggers, list[str](), 1.0
    folded = text.casefold()
    for word in triggers.words:
        if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", folded):
            why.append(f"word {word}")
            doubt *= 1 - WORD
    for pattern in triggers.patterns:
        if pattern.search(text):
            why.append(f"pattern {pattern.pattern}")
            doubt *= 1 - PATTERN
    if triggers.globs:
        spec = GitIgnoreSpec.from_lines(triggers.globs)
        hit = next((path for path in paths if spec.match_file(path.lstrip("/"))), None)
        if hit is not None:
            why.append(f"file {hit}")
            doubt *= 1 - GLOB
    return Match(skill.name, round(1 - doubt, 3), "trigger", tuple(why))
