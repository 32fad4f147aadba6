"""The states of a run and the only ways between them; docs/loop.md tells the same in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

State: TypeAlias = Literal[
    "start", "check", "request", "ask", "act", "settle", "tell", "conclude", "end"
]

TRANSITIONS: Mapping[State, frozenset[State]] = {
    "start": frozenset({"act", "tell", "check", "end"}),
    "check": frozenset({"request", "conclude", "end"}),
    "request": frozenset({"ask", "check", "end"}),
    "ask": frozenset({"act", "request", "tell", "settle", "check", "end"}),
    "act": frozenset({"tell", "check", "end"}),
    "settle": frozenset({"tell", "end"}),
    "tell": frozenset({"check", "end"}),
    "conclude": frozenset({"end"}),
    "end": frozenset(),
}
"""From any state a run may end: it is aborted, or something without which it cannot go on fails."""


class Course:
    """Where one run is."""

    def __init__(self) -> None:
        """Start."""
        self.state: State = "start"
        self.ways: set[tuple[State, State]] = set()
        """All that were taken."""

    def to(self, state: State) -> None:
        """Go on; RuntimeError for a way that there is not."""
        if state not in TRANSITIONS[self.state]:
            raise RuntimeError(f"the loop went from {self.state} to {state}")
        self.ways.add((self.state, state))
        self.state = state
