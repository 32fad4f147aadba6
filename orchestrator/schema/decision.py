"""A verdict of policy on a Request, with everything a person or model needs to understand it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Effect = Literal["allow", "ask", "deny"]

STRICTNESS: dict[Effect, int] = {"allow": 0, "ask": 1, "deny": 2}

Risk = Literal[
    "destructive",
    "publishes",
    "remote_code",
    "privilege",
    "persistence",
    "secrets",
    "upload",
    "opaque",
    "exhaustion",
    "evasion",
]


@dataclass(frozen=True, slots=True)
class Decision:
    """The strictest vote, and where it came from."""

    effect: Effect
    rule: str
    """A rule's id, ``risk:NAME``, ``tool:KEY``, ``default`` (``default:read``, ``default:write``),
    ``protected``, ``hidden``, ``outside``, ``unresolved``, ``unmatched`` or ``gate-error``."""
    layer: str
    """``org``, ``team``, ``user``, ``project``, ``session``, or ``floor`` for what no policy lifts."""
    reason: str
    risks: tuple[Risk, ...] = ()
    span: tuple[int, int] | None = None
    """Character offsets of the offending part in the command."""
    hint: str = ""
    """What the model can do instead."""
    always: bool = False
    """The rule asks each time anew: no remembered approval answers it."""
    unyielding: bool = False
    """No blanket yes (``--yolo``) answers this ask: opaque, evasion, over-limit, protected path."""
    notes: tuple[str, ...] = field(default=())
    """Further findings, one line each, for the person who confirms."""


def strictest(decisions: list[Decision]) -> Decision:
    """Return the first of the strictest; there must be at least one."""
    return max(decisions, key=lambda decision: STRICTNESS[decision.effect])
