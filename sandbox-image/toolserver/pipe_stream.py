"""A stream to a program with pipes: standard input one way, output and errors apart the other.

What the program says comes in pieces, each with an 8-byte header before it: u8 1 for its output or
2 for its errors, three zero bytes, u32 length, big-endian. Engines part a container's output so too.
"""

from __future__ import annotations

import os
import struct
from functools import partial
from typing import TYPE_CHECKING, Any

from frames import DATA
from program_stream import ProgramStream
from spare import Spare
from stream import READ_SIZE

if TYPE_CHECKING:
    from witness import Witness

PIECE = struct.Struct("!BxxxI")
OUTPUT, ERRORS = 1, 2


class PipeStream(ProgramStream):
    """One program."""

    def spare_for(
        self, order: dict[str, Any], witness: Witness | None, *, may_write: bool
    ) -> Spare:
        """Return a process with three pipes."""
        del order
        spare = Spare(
            self._config, witness=witness, takes_input=True, apart=True, may_write=may_write
        )
        self._sources = {OUTPUT: spare.output, ERRORS: spare.errors}
        return spare

    @property
    def sink(self) -> int:
        """Its standard input, until the host's last word."""
        return self._spare.input

    def input_ended(self) -> None:
        """Pass the host's last word on."""
        self._spare.close_input()

    def _listen(self, listening: bool) -> None:
        if listening != self._reading:
            self._reading = listening
            for kind, fd in self._sources.items():
                reader = partial(self._read_from, kind, fd) if listening else None
                self._loop.on_readable(fd, reader)

    def _read_from(self, kind: int, fd: int) -> None:
        if self._done:
            return
        size = min(READ_SIZE, self._credit) - PIECE.size
        if size <= 0:
            self._listen(False)
            return
        try:
            data = os.read(fd, size)
        except BlockingIOError:
            return
        if data:
            self._credit -= PIECE.size + len(data)
            self._link.send(self.number, DATA, PIECE.pack(kind, len(data)) + data)
            return
        self._loop.on_readable(fd, None)
        del self._sources[kind]
        if not self._sources:
            self._reading = False
            self._output_over = True
            self.output_ended()
