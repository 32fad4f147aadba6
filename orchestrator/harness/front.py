"""What the harness needs of a front door: somebody to show things to, somebody to ask."""

from __future__ import annotations

from typing import Protocol

from orchestrator.confirmation.gate import Confirmer
from orchestrator.schema.event import Observer


class FrontDoor(Protocol):
    """A terminal, a pipe, a test."""

    def observer(self, session: str) -> Observer:
        """Return what is told of a session's events."""
        ...

    def confirmer(self) -> Confirmer:
        """Return who answers asks when no flag says otherwise."""
        ...

    def note(self, text: str) -> None:
        """Tell the person something that is no event; ``text`` is already safe."""
        ...
