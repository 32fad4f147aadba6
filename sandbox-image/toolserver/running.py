"""What every command, a terminal's too, has in common: its tree of processes, and how it ends."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Any

import cgroup
import tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config
    from loop import Loop
    from spare import Spare

READ_SIZE = 65_536
DRAIN_SECONDS = 0.1
"""How long output is awaited after the command itself ended; children may hold the pipe."""
TERM_SECONDS = 1.0
"""From the first signal to SIGKILL."""
GONE_SECONDS = 0.02
KILL_SECONDS = 0.05
"""Between looks for survivors of a SIGKILL."""
KILL_ROUNDS = 40
OOM = cgroup.Counter(cgroup.oom_kills)
NO_PROCESS = -1
"""In place of the first process of a tree that has ended: another may have its number by now."""


class Running:
    """One tree of processes, from ``_follow`` until its kind calls ``_finish``."""

    FIRST_SIGNAL = signal.SIGTERM
    """What asks it to end."""

    def __init__(self, loop: Loop, config: Config, number: int) -> None:
        self._loop = loop
        self._config = config
        self.number = number
        self.mark = tree.FIRST_MARK - number
        self._began = time.monotonic()
        self._status: int | None = None
        self._why: str | None = None
        """``timeout``, ``cancelled`` or the limit that ends it."""
        self._note: str | None = None
        """What is to be known of that limit."""
        self._timers: list[int] = []
        self._done = False

    def end(self, why: str, *, at_once: bool = False, note: str | None = None) -> None:
        """Ask the whole tree to end, then make it; the first reason given is the one reported."""
        if self._why is not None or self._done:
            return
        self._why, self._note = why, note
        if at_once:
            self._kill(KILL_ROUNDS)
            return
        tree.send(self.members(), self.FIRST_SIGNAL)
        self._timers.append(self._loop.after(TERM_SECONDS, lambda: self._kill(KILL_ROUNDS)))

    def members(self) -> list[int]:
        """Return the pids of everything that the command started and that still runs."""
        root = NO_PROCESS if self._done else self._spare.pid
        return tree.members(root, self.mark, lowest=self._lowest(), among=tree.processes())

    def _follow(self, spare: Spare, lowest: Callable[[], int]) -> None:
        """Take over a spare that was started with this command's mark."""
        self._spare = spare
        spare.follow(self.number)
        self._lowest = lowest
        self._oom_kills = OOM.recent()
        self._loop.on_exit(spare.pid, self._exited)

    def _exited(self, status: int) -> None:
        self._status = status
        if self._why is None:
            self._ended_by_itself()
        else:
            self._finish_when_gone()

    def _finish_when_gone(self) -> None:
        """Look often: what was asked to mostly ends at once, and someone waits for it."""
        if self._done:
            return
        if self.members():
            self._timers.append(self._loop.after(GONE_SECONDS, self._finish_when_gone))
        else:
            self._finish()

    def _kill(self, rounds: int) -> None:
        if self._done:
            return
        left = self.members()
        tree.send(left, signal.SIGKILL)
        self._loop.reap()
        if self._done:
            # To collect the first process may have been to finish.
            return  # type: ignore[unreachable]  # mypy takes it for as it was
        if self._status is not None and not left:
            self._finish()
        elif rounds:
            self._timers.append(self._loop.after(KILL_SECONDS, lambda: self._kill(rounds - 1)))
        else:
            # Something forks faster than it is found; one signal to all leaves no gap.
            tree.end_everything()
            self._loop.reap()
            self._finish()

    def _stop_timers(self) -> None:
        for timer in self._timers:
            self._loop.cancel(timer)

    def _ending(self) -> dict[str, Any]:
        """Return how its first process ended, after how long, and by which limit if by one."""
        ended = None if self._status is None else os.waitstatus_to_exitcode(self._status)
        return {
            "exit_code": ended if ended is not None and ended >= 0 else None,
            "signal": -ended if ended is not None and ended < 0 else None,
            "limit": self._limit(ended),
            "limit_note": self._note,
            "duration_ms": round((time.monotonic() - self._began) * 1000, 3),
        }

    def _limit(self, ended: int | None) -> str | None:
        if self._why not in {None, "timeout", "cancelled"}:
            return self._why
        # The command itself, or the program that its shell waited for.
        killed = self._why is None and ended in {-signal.SIGKILL, 128 + signal.SIGKILL}
        return "memory" if killed and OOM.current() > self._oom_kills else None

    def _ended_by_itself(self) -> None:
        raise NotImplementedError

    def _finish(self) -> None:
        raise NotImplementedError
