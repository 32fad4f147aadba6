"""How hard a model is asked to think before it answers."""

from __future__ import annotations

from typing import Literal, get_args

ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
"""From none to all that the model can; each provider's own words stand in its adapter."""

THINKING_LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)
"""From least to most."""
