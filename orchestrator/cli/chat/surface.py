"""What a conversation needs of a screen: the terminal's full one, or plain lines."""

from __future__ import annotations

from typing import Protocol

from orchestrator.confirmation.channels import Channel
from orchestrator.schema.event import Observer


class Surface(Protocol):
    """Shows what happens and reads what the person says; it is a FrontDoor too."""

    def observer(self, session: str) -> Observer:
        """Return what shows the events of one session."""
        ...

    def person(self) -> Channel | None:
        """Return who is there to be asked; None where nobody is."""
        ...

    def note(self, text: str) -> None:
        """Tell the person something; ``text`` is already safe."""
        ...

    async def read(self) -> str | None:
        """Return the next thing the person says, also while the model works; None to leave."""
        ...
