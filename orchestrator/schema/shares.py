"""How a model's window is shared out when not everything fits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shares:
    """Fractions of the window, at most 1 together; they count only when the whole would not fit."""

    system: float = 0.15
    """Prompt and tool definitions."""
    conversation: float = 0.60
    tool_results: float = 0.20
    output: float = 0.05
