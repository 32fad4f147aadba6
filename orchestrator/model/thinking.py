"""Levels of thinking in the words of a model: clamped to what it can, and as tokens; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.schema.thinking import THINKING_LEVELS, ThinkingLevel

BUDGETS: Mapping[ThinkingLevel, int] = {
    "off": 0,
    "minimal": 1_024,
    "low": 2_048,
    "medium": 8_192,
    "high": 16_384,
    "xhigh": 24_576,
    "max": 32_768,
}
"""Tokens of thought for models that are given a number instead of a word."""


def clamp(wanted: ThinkingLevel | None, can: Sequence[ThinkingLevel]) -> ThinkingLevel | None:
    """Return the nearest level that a model can: the next higher one, else the highest.

    None where nothing is wanted or the model cannot be asked; a request then says nothing.
    """
    if wanted is None or not can:
        return None
    place = THINKING_LEVELS.index
    higher = [level for level in can if place(level) >= place(wanted)]
    return min(higher, key=place) if higher else max(can, key=place)
