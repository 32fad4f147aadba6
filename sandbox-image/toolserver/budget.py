"""What a session may still write: all, nothing but removals, or not even a command; pure.

``watch`` tells it what was found on disk, and acts on what it says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from config import Limits

ROOM = 32 * 1024 * 1024
"""Bytes by which a full session may still grow, once and not each call.

Its commands can write to no file, but they can make directories, and a hostile one fills holes
through a mapping.
"""
UNSURE_ROOM = 1024 * 1024 * 1024
"""The same while something cannot be looked into, since others of the host write as well."""
NAMES_ROOM = 10_000
"""The same for names: a name alone takes no room that a limit on files could refuse."""
REMOVE = "until that is less, commands can remove files (rm) but write to none"
CLOSED = (
    "it grew while it could only remove, so no command runs any more; end this run, then bring "
    "home what is worth it (`glovebox diff`, `apply`), go back (`glovebox rewind`) or drop it "
    "(`glovebox discard`)"
)


class Found(NamedTuple):
    """What is on disk, and the words for each limit that it may be beyond."""

    size: int
    """Bytes."""
    names: int
    disk_words: str
    files_words: str = ""
    low: bool = False
    """True where the host's disk is nearly full, and this session took a part in it."""
    unsure: bool = False
    """True where others of the host may have written a part of it."""


class Budget:
    """Goes from open to full where a limit is passed, and back where enough was removed."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._began = (0, 0)
        """What there was when it became full."""
        self.bytes_allowed = limits.disk
        """How much may seem to be on disk before it is counted again; for names the same."""
        self.names_allowed = limits.files
        self.full = False
        """True while commands may only remove."""
        self.closed = False
        """True while none may run at all."""
        self.limit = "disk"
        """Which limit was passed last, and why."""
        self.words = ""

    @property
    def advice(self) -> str:
        """What was passed and what to do, for whoever is ended or may not write."""
        return f"{self.words}; {CLOSED if self.closed else REMOVE}"

    @property
    def refusal(self) -> str:
        """Return why a call is refused, as a sentence of its own."""
        what = "disk budget" if self.limit == "disk" else "number of names"
        return f"the {what} of the box is used up: {self.advice}"

    def take(self, found: Found) -> str | None:
        """Take note of an exact count; return the limit for which all that runs is to be ended."""
        limits = self._limits
        if found.size > limits.disk or found.low:
            self.limit, self.words = "disk", found.disk_words
        elif found.names > limits.files:
            self.limit, self.words = "files", found.files_words
        else:
            self.full = self.closed = False
            self.bytes_allowed, self.names_allowed = limits.disk, limits.files
            return None
        began = not self.full
        if began:
            self.full = True
            self._began = max(found.size, limits.disk), max(found.names, limits.files)
        size, names = self._began
        room = UNSURE_ROOM if found.unsure else ROOM
        self.closed = found.size > size + room or found.names > names + NAMES_ROOM
        # Not the same count again and again for what others wrote.
        self.bytes_allowed = (found.size if found.unsure else size) + ROOM
        self.names_allowed = (found.names if found.unsure else names) + NAMES_ROOM
        return self.limit if began or self.closed else None
