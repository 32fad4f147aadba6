"""A stream to a terminal in the box: a person's shell, or a command of theirs."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

from program_stream import ProgramStream
from spare import Spare
from terminal import Terminal

if TYPE_CHECKING:
    from witness import Witness


class TerminalStream(ProgramStream):
    """One terminal."""

    FIRST_SIGNAL = signal.SIGHUP
    """What a shell gets when its terminal is gone; it ignores SIGTERM."""

    def spare_for(
        self, order: dict[str, Any], witness: Witness | None, *, may_write: bool
    ) -> Spare:
        """Return a process on a new terminal."""
        size = {name: int(order[name]) for name in ("columns", "rows")}
        self._terminal = Terminal(self._config, **size)
        return Spare(self._config, witness=witness, terminal=self._terminal, may_write=may_write)

    def read(self, size: int) -> bytes:
        """Return what the terminal shows."""
        return self._spare.read(size)

    def resize(self, columns: int, rows: int) -> None:
        """Give it another size; its programs are told by a signal."""
        if not self._done:
            self._terminal.resize(columns, rows)
