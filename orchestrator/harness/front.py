"""What the harness needs of a front door: somebody to show things to, somebody to ask."""

from __future__ import annotations

from typing import Protocol

from orchestrator.confirmation.channels import Channel
from orchestrator.schema.event import Observer


class FrontDoor(Protocol):
    """A terminal, a pipe, a test."""

    def observer(self, session: str) -> Observer:
        """Return what is told of a session's events."""
        ...

    def person(self) -> Channel | None:
        """Return who is there to be asked; None where nobody is."""
        ...

    def note(self, text: str) -> None:
        """Tell the person something that is no event; ``text`` is already safe."""
        ...
