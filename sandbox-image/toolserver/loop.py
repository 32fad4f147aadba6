"""The server's one event loop: file descriptors, timers and ended children, on one thread."""

from __future__ import annotations

import heapq
import os
import signal
import time
from typing import TYPE_CHECKING, NamedTuple

from descriptors import Descriptors

if TYPE_CHECKING:
    from descriptors import Handler, OnExit

MAX_CANCELLED = 256
"""Timers that are kept after they were cancelled; each command makes and cancels one."""


class Timer(NamedTuple):
    """A promise to call; equal times go in the order they were made."""

    when: float
    number: int
    handler: Handler


class Loop(Descriptors):
    """Waits for whatever comes first and calls who asked for it."""

    def __init__(self) -> None:
        super().__init__()
        self._timers: list[Timer] = []
        self._pending: set[int] = set()
        self._number = 0
        self._children: dict[int, OnExit] = {}
        self._wake, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _ignore)
        self.on_readable(self._wake, self._drain_wakeups)
        self._stopped = False

    def after(self, seconds: float, handler: Handler) -> int:
        """Call ``handler`` once, later; returns a number for ``cancel``."""
        self._number += 1
        heapq.heappush(self._timers, Timer(time.monotonic() + seconds, self._number, handler))
        self._pending.add(self._number)
        return self._number

    def cancel(self, number: int) -> None:
        """Forget a timer that may have fired already."""
        self._pending.discard(number)
        if len(self._timers) > MAX_CANCELLED + 2 * len(self._pending):
            self._timers = [timer for timer in self._timers if timer.number in self._pending]
            heapq.heapify(self._timers)

    def on_exit(self, pid: int, handler: OnExit | None) -> None:
        """Call ``handler`` with the wait status when the child ends."""
        if handler is None:
            self._children.pop(pid, None)
        else:
            self._children[pid] = handler

    def stop(self) -> None:
        """Return from ``run`` after this turn."""
        self._stopped = True

    def run(self) -> None:
        """Serve until stopped. Descriptors go first: a late timer must not outrun a heartbeat."""
        while not self._stopped:
            self.call_ready(self._wait_seconds())
            self.reap()
            self._fire()

    def reap(self) -> None:
        """Collect every ended child; orphans come here too, as the server is a subreaper."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            handler = self._children.pop(pid, None)
            if handler is not None:
                handler(status)

    def _wait_seconds(self) -> float | None:
        if not self._timers:
            return None
        return max(0.0, self._timers[0].when - time.monotonic())

    def _fire(self) -> None:
        now = time.monotonic()
        while self._timers and self._timers[0].when <= now:
            timer = heapq.heappop(self._timers)
            if timer.number in self._pending:
                self._pending.discard(timer.number)
                timer.handler()

    def _drain_wakeups(self) -> None:
        try:
            while os.read(self._wake, 4096):
                pass
        except BlockingIOError:
            pass


def _ignore(_number: int, _frame: object) -> None:
    """Wake the loop; the wake-up descriptor does the rest."""
