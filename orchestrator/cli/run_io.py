"""Where a run reads and writes: a terminal where there is one, plain streams else."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from orchestrator.cli.render import WIDE, JsonLines, Progress
from orchestrator.confirmation.channels import Channel
from orchestrator.confirmation.terminal import Room, TerminalConfirmer
from orchestrator.confirmation.tty import TtyTerminal
from orchestrator.confirmation.who import terminal_name
from orchestrator.schema.event import ErrorRaised, LimitReached, Observer
from orchestrator.schema.event_base import Event

TTY = Path("/dev/tty")
PLAIN = frozenset({"dumb", ""})
"""Values of TERM of terminals that take no escape sequence."""
STDIN = 0
"""Names the terminal: the one that ``TTY`` opens is always called the same."""


@dataclass(frozen=True, slots=True)
class RunIo:
    """The front door's side of a run."""

    json_events: bool
    quiet: bool
    terminal: TtyTerminal | None
    """Where a person can be asked; None when stdin or stderr is no terminal."""
    bell: bool = True
    """Ring the terminal's bell with a question."""

    def observer(self, session: str) -> Observer:
        """Return what shows the events of one session."""
        if self.json_events:
            return JsonLines(_to_stdout, session)
        progress = Progress(_to_stderr, colour=_colour(), columns=_columns)
        return _only_trouble(progress) if self.quiet else progress

    def person(self, room: Room = nullcontext) -> Channel | None:
        """Return the person at the terminal; None where there is none.

        ``room`` makes room on the screen for the time of a question.
        """
        if self.terminal is None:
            return None
        name = terminal_name(STDIN)
        return TerminalConfirmer(self.terminal, name=name, bell=self.bell, room=room)

    def note(self, text: str) -> None:
        """Tell the person something; ``text`` is already safe."""
        _put(sys.stderr, text + "\n")


def open_io(*, quiet: bool, json_events: bool, bell: bool = True) -> RunIo:
    """Return the front door for this process's own streams."""
    terminal = open_tty() if sys.stdin.isatty() and sys.stderr.isatty() else None
    return RunIo(json_events=json_events, quiet=quiet, terminal=terminal, bell=bell)


def open_tty() -> TtyTerminal | None:
    """Return this process's own terminal; None where it has none."""
    try:
        fd = os.open(TTY, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    return TtyTerminal(fd, marks_pastes=os.environ.get("TERM", "dumb") not in PLAIN)


def _to_stdout(text: str) -> None:
    _put(sys.stdout, text)


def _to_stderr(text: str) -> None:
    _put(sys.stderr, text)


def _put(stream: TextIO, text: str) -> None:
    """Write to a stream; where its reader has gone, the run goes on without one."""
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(null, stream.fileno())
        os.close(null)


def _only_trouble(shown: Observer) -> Observer:
    """Return what shows why a run fails or ends early, and nothing of its course."""

    def observe(event: Event) -> None:
        if isinstance(event, ErrorRaised | LimitReached):
            shown(event)

    return observe


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or WIDE
    except (OSError, ValueError):
        return WIDE


def _colour() -> bool:
    return sys.stderr.isatty() and "NO_COLOR" not in os.environ
