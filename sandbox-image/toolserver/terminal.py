"""A pseudo-terminal for one command: the slave end is the command's, the master the server's."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from typing import TYPE_CHECKING

from privilege import as_command

if TYPE_CHECKING:
    from config import Config

TERM = "xterm-256color"
COLUMNS, ROWS = 120, 40
"""Where nobody looks at it: wide enough that programs do not break their lines."""
MOST = 1000
"""Of either; programs keep a cell for each place."""
_SIZE = struct.Struct("HHHH")


class Terminal:
    """Both ends, until a ``Spare`` takes them over: it closes the slave at once."""

    def __init__(self, config: Config, *, columns: int = COLUMNS, rows: int = ROWS) -> None:
        """Open it; OSError where the box has none left."""
        # As the command's user: the kernel gives the slave to whoever opens the master.
        with as_command(config):
            self.master, self.slave = os.openpty()
        self.resize(columns, rows)

    @property
    def environment(self) -> dict[str, str]:
        """Return what a command must be told of it."""
        return {"TERM": TERM}

    def resize(self, columns: int, rows: int) -> None:
        """Set its size; the programs in its foreground get a SIGWINCH."""
        columns, rows = (max(1, min(size, MOST)) for size in (columns, rows))
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, _SIZE.pack(rows, columns, 0, 0))
