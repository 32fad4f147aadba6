"""A stream to a terminal in the box: a person's shell, or a command of theirs."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import tree
from spare import MAX_COMMAND, Spare
from stream import Stream
from terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config

SHELL = "exec bash -i"
DRAIN_SECONDS = 0.1
"""How long output is awaited after the shell ended; what it left behind may hold the terminal."""
HANG_UP_SECONDS = 1.0
"""From SIGHUP to SIGKILL."""
KILL_SECONDS = 0.05
KILL_ROUNDS = 40


class TerminalStream(Stream):
    """One terminal, from ``start`` to its RESULT; to the watchdog it is like a command."""

    def start(self, config: Config, order: dict[str, Any], *, lowest: Callable[[], int]) -> None:
        """Start the command on a new terminal; OSError, ValueError or KeyError when it cannot."""
        self.mark = tree.FIRST_MARK - self.number
        self._lowest = lowest
        self._status: int | None = None
        self._why: str | None = None
        self._timers: list[int] = []
        command = (order.get("command") or SHELL).encode("utf-8", "surrogateescape")
        cwd = order["cwd"].encode("utf-8", "surrogateescape")
        if b"\0" in command or b"\0" in cwd or len(command) > MAX_COMMAND:
            raise ValueError(f"command: text without NUL of at most {MAX_COMMAND} bytes expected")
        size = {name: int(order[name]) for name in ("columns", "rows")}
        self._terminal = Terminal(config, **size)
        self._spare = Spare(config, terminal=self._terminal)
        self._spare.start(command, cwd, self.mark)
        self._loop.on_exit(self._spare.pid, self._exited)
        self.begin(self._spare.output)

    def members(self) -> list[int]:
        """Return the pids of everything that was started on it and that still runs."""
        return tree.members(
            self._spare.pid, self.mark, lowest=self._lowest(), among=tree.processes()
        )

    def read(self, size: int) -> bytes:
        """Return what the terminal shows."""
        return self._spare.read(size)

    def resize(self, columns: int, rows: int) -> None:
        """Give it another size; its programs are told by a signal."""
        if not self._done:
            self._terminal.resize(columns, rows)

    def end(self, why: str, *, at_once: bool = False) -> None:
        """Hang up, or kill; the first reason given is the one reported."""
        if self._why is not None or self._done:
            return
        self._why = why
        if at_once:
            self._kill(KILL_ROUNDS)
            return
        tree.send(self.members(), signal.SIGHUP)
        self._after(HANG_UP_SECONDS, lambda: self._kill(KILL_ROUNDS))

    def release(self) -> None:
        """Close the terminal."""
        for timer in self._timers:
            self._loop.cancel(timer)
        self._spare.discard()

    def output_ended(self) -> None:
        """Nothing holds the terminal any more; the end of the shell is told by its exit."""
        if self._status is not None:
            self._tell()

    def _after(self, seconds: float, handler: Callable[[], None]) -> None:
        self._timers.append(self._loop.after(seconds, handler))

    def _exited(self, status: int) -> None:
        self._status = status
        if self._why is not None:
            self._finish_when_gone()
        elif self._output_over:
            self._tell()
        else:
            self._after(DRAIN_SECONDS, self._drained)

    def _drained(self) -> None:
        if self._reading:
            self._tell()
        else:
            # The host has not yet taken the last words.
            self._after(DRAIN_SECONDS, self._drained)

    def _finish_when_gone(self) -> None:
        if self._done:
            return
        if self.members():
            self._after(KILL_SECONDS, self._finish_when_gone)
        else:
            self._tell()

    def _kill(self, rounds: int) -> None:
        if self._done:
            return
        left = self.members()
        tree.send(left, signal.SIGKILL)
        self._loop.reap()
        if self._done:
            return
        if not left and self._status is not None:
            self._tell()
        elif rounds:
            self._after(KILL_SECONDS, lambda: self._kill(rounds - 1))
        else:
            # Something forks faster than it is found; one signal to all leaves no gap.
            tree.end_everything()
            self._loop.reap()
            self._tell()

    def _tell(self) -> None:
        failure = self._spare.failure()
        if failure:
            self.finish({"error": failure, "code": "invalid"})
            return
        ended = None if self._status is None else os.waitstatus_to_exitcode(self._status)
        self.finish(
            {
                "data": {
                    "exit_code": ended if ended is not None and ended >= 0 else None,
                    "signal": -ended if ended is not None and ended < 0 else None,
                    "reason": self._why,
                }
            }
        )
