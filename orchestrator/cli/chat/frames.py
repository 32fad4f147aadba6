"""The bytes of a terminal in whole frames: what changes at once is shown at once."""

from __future__ import annotations

import os
from typing import TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.vt100 import Vt100_Output

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"
"""Synchronized output; a terminal that does not know it passes over it."""
UNKNOWN = os.terminal_size((80, 24))
"""What a terminal is taken for that does not tell its size."""


class FrameOutput(Vt100_Output):
    """Writes to a terminal, a frame at a time; never asks the terminal where its cursor is.

    The answer to that question would come in among the keys that a person presses.
    """

    def __init__(self, out: TextIO, *, term: str | None) -> None:
        """Write to ``out``, a terminal of the kind ``term``."""
        self._out = out
        super().__init__(out, self._now, term=term, enable_cpr=False)
        self._held = False

    def _now(self) -> Size:
        try:
            found = os.get_terminal_size(self._out.fileno())
        except (OSError, ValueError):
            found = UNKNOWN
        return Size(found.lines or UNKNOWN.lines, found.columns or UNKNOWN.columns)

    def hold(self) -> None:
        """Show nothing until ``release``."""
        self._held = True

    def release(self) -> None:
        """Show all that was written since ``hold`` as one frame."""
        self._held = False
        self.flush()

    def flush(self) -> None:
        """Show what was written, as one frame; nothing while it is held."""
        if self._held or not self._buffer:
            return
        self._buffer = [BEGIN, *self._buffer, END]
        try:
            super().flush()
        except OSError:
            # The window is gone; its hang-up ends the session in order. What could not be written
            # would otherwise fail once more at the end of the process.
            null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(null, self._out.fileno())
            os.close(null)
