"""Streams of bytes between host and box: where one leads, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

MOST_CELLS = 1000
"""Columns or rows of a terminal, at most."""


@dataclass(frozen=True, slots=True)
class TerminalSize:
    """A terminal's size in character cells, each side from 1 to ``MOST_CELLS``."""

    columns: int = 80
    rows: int = 24

    def bounded(self) -> TerminalSize:
        """Return the nearest size that a box accepts."""
        return TerminalSize(
            max(1, min(self.columns, MOST_CELLS)), max(1, min(self.rows, MOST_CELLS))
        )


@dataclass(frozen=True, slots=True)
class TerminalTarget:
    """A new terminal in the box with a command on it, or an interactive shell."""

    size: TerminalSize
    cwd: str
    """Absolute path inside."""
    command: str | None = None
    """Shell text; None is a login of the box's shell."""


@dataclass(frozen=True, slots=True)
class ProgramTarget:
    """A command with pipes: what is sent is its standard input.

    What is received comes in pieces of its output and its errors, see ``sandbox.pieces``.
    """

    command: str
    """Shell text."""
    cwd: str
    """Absolute path inside."""


@dataclass(frozen=True, slots=True)
class TcpTarget:
    """A server on the box's own loopback."""

    port: int


StreamTarget = TerminalTarget | ProgramTarget | TcpTarget


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """How a stream ended; all None for a connection that was closed in order."""

    exit_code: int | None = None
    signal: int | None = None
    reason: str | None = None
    """What ended it, where neither end of it did."""
