"""What passes from one process to another when a running box changes hands."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Held:
    """The open connections to one box, between two messages; whoever has them keeps it alive."""

    lifeline: socket.socket
    calls: socket.socket
    latest: int
    """Number of the last call; the box counts on by it."""

    def close(self) -> None:
        """Let go; the box ends by it."""
        self.lifeline.close()
        self.calls.close()


@dataclass(frozen=True, slots=True)
class HandedBox:
    """A running box without an owner."""

    container: str
    facts: Mapping[str, str]
    """What the engine told of it when it was made."""
    held: Held
