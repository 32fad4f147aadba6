"""A skill as it was read: data alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from orchestrator.schema.ids import Digest
from orchestrator.schema.shares import Shares
from orchestrator.schema.thinking import ThinkingLevel

Scope = Literal["shipped", "user", "project"]
"""Later ones take the place of earlier ones of the same name."""


@dataclass(frozen=True, slots=True)
class Triggers:
    """What a person says when the skill is wanted."""

    words: tuple[str, ...] = ()
    """Whole words or phrases, blind to case."""
    patterns: tuple[re.Pattern[str], ...] = ()
    """Regular expressions as ``compile_pattern`` gives them."""
    globs: tuple[str, ...] = ()
    """Of files that are named, in the form of .gitignore."""


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A file that comes with a skill."""

    path: str
    """Below the skill's folder, with slashes."""
    data: bytes = field(repr=False)
    executable: bool = False


@dataclass(frozen=True, slots=True)
class PolicyPart:
    """What a skill adds to policy: a text that only tightens, checked when it is put in force."""

    text: str
    """A policy file whose lines have the numbers that they have in the SKILL.md."""
    line: int


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill."""

    name: str
    description: str
    body: str
    """Its instructions, Markdown."""
    scope: Scope
    source: str
    """Its SKILL.md on the host; for a shipped one ``shipped:NAME/SKILL.md``."""
    digest: Digest
    """Of all its files."""
    version: str = ""
    author: str = ""
    license: str = ""
    compatibility: str = ""
    tags: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    references: tuple[str, ...] = ()
    """Files of its own that the body speaks of."""
    examples: tuple[str, ...] = ()
    """What a person may ask."""
    allowed: tuple[str, ...] | None = None
    """Tools that it leaves on offer; None leaves all."""
    forbidden: tuple[str, ...] = ()
    shares: Shares | None = None
    max_tokens: int | None = None
    """Of one run while it is on."""
    triggers: Triggers = Triggers()
    output: str = ""
    """How the answer is to look."""
    policy: PolicyPart | None = None
    model: str | None = None
    thinking: ThinkingLevel | None = None
    by_name_only: bool = False
    """Never listed to the model, never chosen but by a person."""
    files: tuple[SkillFile, ...] = field(default=(), repr=False)
    """All of it, SKILL.md too."""
