"""One process that outlives the call which started it: output kept, input written as it is taken."""

from __future__ import annotations

import os
import signal
from collections import deque
from typing import TYPE_CHECKING, Any

import tree
from ring import Ring
from running import DRAIN_SECONDS, READ_SIZE, Running

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config
    from loop import Loop
    from spare import Spare

MOST_WAITING = 256 * 1024
"""Bytes of input that a process may leave unread."""
END_OF_FILE = b"\x04"
"""What ends the input of a terminal, at the start of a line."""


class InputRefusedError(Exception):
    """Raised for input that the process cannot be given; the message says why."""


class Background(Running):
    """Runs from ``start`` until it ends; ``on_change`` are called at every change."""

    def __init__(self, loop: Loop, config: Config, number: int) -> None:
        super().__init__(loop, config, number)
        self.ring = Ring()
        self.shown = 0
        """The place in the output up to which the host was told."""
        self.on_change: list[Callable[[], None]] = []
        self._on_end: Callable[[], None] = _nothing
        self._end_of_output = False
        self._to_write: deque[memoryview] = deque()
        self._closing = False
        self._forgotten = False
        self._ended: dict[str, Any] = {}

    @property
    def running(self) -> bool:
        """True until its first process ended; what that started may go on."""
        return not self._done

    @property
    def unread(self) -> int:
        """Bytes of input that the process has not taken."""
        return sum(len(piece) for piece in self._to_write)

    @property
    def failure(self) -> str | None:
        """Why it could not become the command; None when it did, or has not ended."""
        return self._ended.get("error")

    def start(self, spare: Spare, order: tuple[bytes, bytes], lowest: Callable[[], int]) -> None:
        """Hand a command and its directory over to a spare that takes input."""
        spare.start(*order, self.mark)
        self._follow(spare, lowest)
        self._loop.on_readable(spare.output, self._read)

    def on_end(self, handler: Callable[[], None]) -> None:
        """Call ``handler`` once when it has ended."""
        self._on_end = handler

    def state(self) -> dict[str, Any]:
        """Return what is to be told of it: whether it runs, how it ended, how long that took."""
        return {"running": self.running, **(self._ended or self._ending())}

    def write(self, data: bytes, *, end: bool) -> None:
        """Queue input, then perhaps its end; raises InputRefusedError."""
        if self._done or self._closing:
            what = "it has ended" if self._done else "its input was closed"
            raise InputRefusedError(what)
        if self.unread + len(data) > MOST_WAITING:
            raise InputRefusedError(f"it has not read the last {self.unread} bytes yet")
        terminal = self._spare.terminal is not None
        if end and terminal:
            data += END_OF_FILE
        if data:
            self._to_write.append(memoryview(data))
        self._closing = end and not terminal
        self._write()

    def signal(self, number: signal.Signals) -> int:
        """Signal everything that belongs to it, what outlived its first process too."""
        members = self.members()
        tree.send(members, number)
        # Stopped processes would heed it only when they are continued.
        if number in {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL}:
            tree.send(members, signal.SIGCONT)
        return len(members)

    def forget(self) -> None:
        """Keep nothing more of it; what outlived it may go on to print, into nothing."""
        self._forgotten = True
        self.ring = Ring()
        self._end_input()
        if self._end_of_output:
            self._spare.discard()

    def _read(self) -> None:
        try:
            data = self._spare.read(READ_SIZE)
        except BlockingIOError:
            return
        if self._forgotten and data:
            return
        if data:
            self.ring.add(data)
        else:
            self._loop.on_readable(self._spare.output, None)
            self._end_of_output = True
            if self._done:
                self._spare.discard()
            elif self._status is not None and self._why is None:
                self._finish()
        self._changed()

    def _write(self) -> None:
        while self._to_write:
            piece = self._to_write[0]
            try:
                count = os.write(self._spare.input, piece)
            except BlockingIOError:
                self._loop.on_writable(self._spare.input, self._write)
                return
            except OSError:
                # It closed its end; the rest has nobody to go to.
                self._closing = True
                break
            self._to_write[0] = piece[count:]
            if not self._to_write[0]:
                self._to_write.popleft()
        if self._closing:
            self._end_input()
        else:
            self._loop.on_writable(self._spare.input, None)

    def _end_input(self) -> None:
        self._to_write.clear()
        if self._spare.input >= 0:
            self._loop.on_writable(self._spare.input, None)
            self._spare.close_input()

    def _ended_by_itself(self) -> None:
        if self._end_of_output:
            self._finish()
        else:
            self._timers.append(self._loop.after(DRAIN_SECONDS, self._finish))

    def _finish(self) -> None:
        if self._done:
            return
        self._done = True
        self._stop_timers()
        self._ended = self._ending()
        failure = self._spare.failure()
        if failure:
            self._ended["error"] = failure
        self._end_input()
        if self._end_of_output:
            self._spare.discard()
        self._on_end()
        self._changed()

    def _changed(self) -> None:
        for handler in list(self.on_change):
            handler()


def _nothing() -> None:
    """Stand in for a handler until there is one."""
