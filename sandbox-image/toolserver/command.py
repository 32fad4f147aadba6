"""One running command: its output as it comes, its end, and how it is brought to an end."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Any

import cgroup
import tree
from frames import OUTPUT
from output import Output

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config
    from link import Link
    from loop import Loop
    from spare import Spare

READ_SIZE = 65_536
MAX_TIMEOUT = 7 * 86_400
"""Seconds."""
DRAIN_SECONDS = 0.1
"""How long output is awaited after the command itself ended; children may hold the pipe."""
FEW_LEFT = 3
"""Background processes that a command may leave behind without a second look at their number."""
TERM_SECONDS = 1.0
"""From SIGTERM to SIGKILL."""
GONE_SECONDS = 0.02
KILL_SECONDS = 0.05
"""Between looks for survivors of a SIGKILL."""
KILL_ROUNDS = 40
OOM = cgroup.Counter(cgroup.oom_kills)
FORKS = cgroup.Counter(cgroup.failed_forks)


class Order:
    """What a command is to do, as the host asked."""

    def __init__(self, request: dict[str, Any], credit: int) -> None:
        """Take the fields apart; KeyError, TypeError or ValueError for a request that lacks one."""
        self.command = _bytes(request["command"])
        self.cwd = _bytes(request["cwd"])
        self.timeout = float(request["timeout_s"])
        if not 0 < self.timeout <= MAX_TIMEOUT:
            raise ValueError(f"timeout_s: more than 0 and at most {MAX_TIMEOUT} expected")
        self.streams = credit > 0
        self.credit = credit


def _bytes(text: object) -> bytes:
    if not isinstance(text, str) or "\0" in text:
        raise ValueError("text without NUL expected")
    return text.encode("utf-8", "surrogateescape")


class Command:
    """Runs from ``start`` until ``on_end`` is called with the outcome's data."""

    def __init__(self, loop: Loop, config: Config, *, order: Order, number: int) -> None:
        self._loop = loop
        self._config = config
        self._order = order
        self.number = number
        self.mark = tree.FIRST_MARK - number
        self._output = Output(config, f"{number}")
        self._began = time.monotonic()
        self._status: int | None = None
        self._end_of_output = False
        self._full = False
        self._reading = False
        self._why: str | None = None
        """``timeout``, ``cancelled`` or the limit that ends it."""
        self._timers: list[int] = []
        self._drain_timer: int | None = None
        self._left = 0
        self._done = False

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
        self._spare = spare
        self._link = link
        self._lowest = lowest
        self._on_end = on_end
        self._oom_kills = OOM.recent()
        self._failed_forks = FORKS.recent()
        self._loop.on_exit(spare.pid, self._exited)
        self._listen(True)
        self._timers.append(self._loop.after(self._order.timeout, lambda: self.end("timeout")))

    def credit(self, count: int) -> None:
        """Let the host take ``count`` more bytes."""
        self._order.credit += count
        if not (self._end_of_output or self._full or self._done):
            self._listen(True)

    def end(self, why: str, *, at_once: bool = False) -> None:
        """Ask the whole tree to end, then make it; the first reason given is the one reported."""
        if self._why is not None or self._done:
            return
        self._why = why
        if at_once:
            self._kill(KILL_ROUNDS)
            return
        tree.send(self.members(), signal.SIGTERM)
        self._timers.append(self._loop.after(TERM_SECONDS, lambda: self._kill(KILL_ROUNDS)))

    def members(self) -> list[int]:
        """Return the pids of everything that the command started and that still runs."""
        return tree.members(
            self._spare.pid, self.mark, lowest=self._lowest(), among=tree.processes()
        )

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

    def _exited(self, status: int) -> None:
        self._status = status
        if self._why is None:
            self._maybe_finish()
            if not self._done:
                self._drain_timer = self._loop.after(DRAIN_SECONDS, self._drained)
        else:
            self._finish_when_gone()

    def _finish_when_gone(self) -> None:
        """Look often: what got a SIGTERM mostly ends at once, and someone waits for it."""
        if self._done:
            return
        if self.members():
            self._timers.append(self._loop.after(GONE_SECONDS, self._finish_when_gone))
        else:
            self._finish()

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

    def _kill(self, rounds: int) -> None:
        if self._done:
            return
        left = self.members()
        tree.send(left, signal.SIGKILL)
        self._loop.reap()
        if self._done:
            return
        if self._status is not None and not left:
            self._finish()
        elif rounds:
            self._timers.append(self._loop.after(KILL_SECONDS, lambda: self._kill(rounds - 1)))
        else:
            # Something forks faster than it is found; one signal to all leaves no gap.
            tree.end_everything()
            self._loop.reap()
            self._finish()

    def _finish(self) -> None:
        if self._done:
            return
        self._read_rest()
        self._done = True
        self._listen(False)
        for timer in (*self._timers, self._drain_timer):
            if timer is not None:
                self._loop.cancel(timer)
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
        status = self._status
        ended = None if status is None else os.waitstatus_to_exitcode(status)
        return {
            **self._output.summary(),
            "exit_code": ended if ended is not None and ended >= 0 else None,
            "signal": -ended if ended is not None and ended < 0 else None,
            "timed_out": self._why == "timeout",
            "cancelled": self._why == "cancelled",
            "limit": self._limit(ended),
            "duration_ms": round((time.monotonic() - self._began) * 1000, 3),
        }

    def _limit(self, ended: int | None) -> str | None:
        if self._why not in {None, "timeout", "cancelled"}:
            return self._why
        # The command itself, or the program that its shell waited for.
        killed = self._why is None and ended in {-signal.SIGKILL, 128 + signal.SIGKILL}
        return "memory" if killed and OOM.current() > self._oom_kills else None
