"""One running command: its output as it comes, its end, and how it is brought to an end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cgroup
from frames import OUTPUT
from output import Output
from running import DRAIN_SECONDS, READ_SIZE, Running

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config
    from link import Link
    from loop import Loop
    from spare import Spare

MAX_TIMEOUT = 7 * 86_400
"""Seconds."""
FEW_LEFT = 3
"""Background processes that a command may leave behind without a second look at their number."""
FORKS = cgroup.Counter(cgroup.failed_forks)


class Order:
    """What a command is to do, as the host asked."""

    def __init__(self, request: dict[str, Any], credit: int) -> None:
        """Take the fields apart; KeyError, TypeError or ValueError for a request that lacks one."""
        self.command = plain_bytes(request["command"])
        self.cwd = plain_bytes(request["cwd"])
        self.timeout = float(request["timeout_s"])
        if not 0 < self.timeout <= MAX_TIMEOUT:
            raise ValueError(f"timeout_s: more than 0 and at most {MAX_TIMEOUT} expected")
        self.streams = credit > 0
        self.credit = credit


def plain_bytes(text: object) -> bytes:
    """Return what a path or a command is to the kernel; ValueError for what can be neither."""
    if not isinstance(text, str) or "\0" in text:
        raise ValueError("text without NUL expected")
    return text.encode("utf-8", "surrogateescape")


class Command(Running):
    """Runs from ``start`` until ``on_end`` is called with the outcome's data."""

    def __init__(self, loop: Loop, config: Config, *, order: Order, number: int) -> None:
        super().__init__(loop, config, number)
        self._order = order
        self._output = Output(config, f"{number}")
        self._end_of_output = False
        self._full = False
        self._reading = False
        self._drain_timer: int | None = None
        self._left = 0
        self.full: str | None = None
        """Why it could write to no file; None where it could."""

    def start(
        self,
        spare: Spare,
        link: Link,
        *,
        lowest: Callable[[], int],
        on_end: Callable[[Command, dict[str, Any]], None],
    ) -> None:
        """Hand it over to a spare."""
        spare.start(self._order.command, self._order.cwd, self.mark)
        self._follow(spare, lowest)
        self._link = link
        self._on_end = on_end
        self._failed_forks = FORKS.recent()
        self._listen(True)
        self._timers.append(self._loop.after(self._order.timeout, lambda: self.end("timeout")))

    def credit(self, count: int) -> None:
        """Let the host take ``count`` more bytes."""
        self._order.credit += count
        if not (self._end_of_output or self._full or self._done):
            self._listen(True)

    def _listen(self, listening: bool) -> None:
        if listening != self._reading:
            self._reading = listening
            self._loop.on_readable(self._spare.output, self._read if listening else None)

    def _read(self) -> None:
        size = READ_SIZE
        if self._order.streams:
            size = min(size, self._order.credit)
            if size == 0:
                # The pipe fills and the command waits, until the host has read what it got.
                self._listen(False)
                return
        try:
            data = self._spare.read(size)
        except BlockingIOError:
            return
        if not data:
            self._listen(False)
            self._end_of_output = True
            self._maybe_finish()
            return
        self._output.add(data)
        if self._order.streams:
            self._order.credit -= len(data)
            self._link.send(self.number, OUTPUT, data)
        if self._output.total_bytes > self._config.limits.output:
            self._listen(False)
            self._full = True
            self.end("output")

    def _ended_by_itself(self) -> None:
        self._maybe_finish()
        if not self._done:
            self._drain_timer = self._loop.after(DRAIN_SECONDS, self._drained)

    def _drained(self) -> None:
        """Finish without the end of the output, unless what was left behind is a fork bomb."""
        self._drain_timer = None
        if self._done or self._why is not None:
            return
        left = len(self.members())
        growing = left > max(self._left, FEW_LEFT)
        self._left = left
        if left and (FORKS.current() > self._failed_forks or cgroup.is_crowded()):
            self.end("pids", at_once=True)
        elif self._reading and not growing:
            self._finish()
        else:
            self._drain_timer = self._loop.after(DRAIN_SECONDS, self._drained)

    def _maybe_finish(self) -> None:
        if self._status is not None and self._end_of_output and self._why is None:
            self._finish()

    def _finish(self) -> None:
        if self._done:
            return
        self._read_rest()
        self._done = True
        self._listen(False)
        self._stop_timers()
        if self._drain_timer is not None:
            self._loop.cancel(self._drain_timer)
        failure = self._spare.failure()
        if self._end_of_output:
            self._spare.discard()
        else:
            # Background children may still write; without a reader they would die of it.
            self._loop.on_readable(self._spare.output, self._drain)
        self._on_end(self, {"error": failure, "code": "invalid"} if failure else self._data())

    def _read_rest(self) -> None:
        """Take what a full turn of the pipe still holds, so that an ended command's words show."""
        if self._end_of_output or self._full or self._order.streams:
            return
        try:
            data = self._spare.read(READ_SIZE)
        except BlockingIOError:
            return
        if data:
            self._output.add(data)

    def _drain(self) -> None:
        try:
            if self._spare.read(READ_SIZE):
                return
        except BlockingIOError:
            return
        self._loop.on_readable(self._spare.output, None)
        self._spare.discard()

    def _data(self) -> dict[str, Any]:
        return {
            **self._output.summary(),
            **self._ending(),
            "timed_out": self._why == "timeout",
            "cancelled": self._why == "cancelled",
            "full": self.full,
        }
