"""What a conversation needs of a screen: the terminal's full one, or plain lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orchestrator.confirmation.channels import Channel
from orchestrator.schema.event import Observer
from orchestrator.schema.ids import SessionId


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that a person said."""

    text: str
    later: bool = False
    """Not before the model has stopped by itself."""


class Attended(Protocol):
    """The conversation, as far as a screen may know it."""

    @property
    def session(self) -> SessionId:
        """Its name."""
        ...

    @property
    def directory(self) -> Path:
        """The directory on the host that it works on."""
        ...

    @property
    def is_busy(self) -> bool:
        """Say whether the model is at work."""
        ...

    def facts(self) -> Mapping[str, str]:
        """Return what a status line shows, by name; raw texts."""
        ...

    def recount(self, then: Callable[[], None]) -> None:
        """Have the changed files of ``facts`` counted again; ``then`` is called after it."""
        ...

    def stop(self) -> None:
        """Stop the model."""
        ...

    def scrub(self, text: str) -> str:
        """Return text without the session's secrets."""
        ...


class Surface(Protocol):
    """Shows what happens and reads what the person says; it is a FrontDoor too."""

    def opened(self) -> AbstractAsyncContextManager[None]:
        """Take the terminal, and give it back at the end of the block."""
        ...

    def attend(self, talk: Attended | None) -> None:
        """Belong to a conversation from now on, or to none."""
        ...

    def observer(self, session: str) -> Observer:
        """Return what shows the events of one session."""
        ...

    def person(self) -> Channel | None:
        """Return who is there to be asked; None where nobody is."""
        ...

    def note(self, text: str) -> None:
        """Tell the person something; ``text`` is already safe, of one line or several."""
        ...

    def settle(self) -> None:
        """Take what the model was saying for said: it was stopped, or has stopped."""
        ...

    def diff(self, lines: Iterable[str]) -> None:
        """Show raw lines of a diff."""
        ...

    def show_thoughts(self, *, shown: bool) -> None:
        """Show what the model thinks, the newest thought first, or fold it."""
        ...

    async def choose(self, rows: Sequence[str], at: int) -> int | None:
        """Let the person choose among safe rows, beginning ``at`` one; None for none of them.

        Where there is no way to choose, the rows are shown.
        """
        ...

    def recall(self, lines: Iterable[tuple[str, str]]) -> None:
        """Show what was said last, as ``recalling.recalled`` gives it."""
        ...

    def draft(self, text: str) -> None:
        """Give the person a raw text back, to be changed and said anew."""
        ...

    async def read(self) -> Said | None:
        """Return the next thing the person says, also while the model works; None to leave."""
        ...
