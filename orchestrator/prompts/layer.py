"""What a system prompt is made of: parts, each of one of five layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Layer = Literal["identity", "skill", "context", "tools", "output"]
LAYERS: tuple[Layer, ...] = ("identity", "skill", "context", "tools", "output")
"""Layers 1 to 5, from the general to the special: the order in the text."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of text; an empty one says nothing and is left out."""

    layer: Layer
    name: str
    """What it is, unique in a prompt: ``safety``, or a file's path below the project."""
    text: str
    source: str
    """Where the text is from: ``shipped``, ``settings`` or a file on the host."""
    tail: str = ""
    """Its last characters where they stay when it is shortened: the end of a frame."""
    rank: int = 0
    """Of those of its layer the lower goes first where space lacks; only 0 is shortened."""
    last: bool = False
    """Stands behind everything else: what changes from day to day, so that caches keep the rest."""


@dataclass(frozen=True, slots=True)
class SkillParts:
    """What a skill that is on puts in the place of layers 2, 4 and 5."""

    name: str
    instructions: str
    source: str
    """Its SKILL.md on the host, or ``shipped``."""
    output: str = ""
    """How its answer is to look; empty leaves the usual output layer."""
