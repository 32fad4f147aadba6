"""A stream to a terminal in the box: a person's shell, or a command of theirs."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

from running import DRAIN_SECONDS, Running
from spare import MAX_COMMAND, Spare
from stream import Stream
from terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config
    from link import Link
    from loop import Loop

SHELL = "exec bash -i"


class TerminalStream(Running, Stream):
    """One terminal, from ``start`` to its RESULT; its processes end as a command's do."""

    FIRST_SIGNAL = signal.SIGHUP
    """What a shell gets when its terminal is gone; it ignores SIGTERM."""

    def __init__(
        self,
        loop: Loop,
        config: Config,
        *,
        link: Link,
        number: int,
        on_end: Callable[[int], None],
    ) -> None:
        Stream.__init__(self, loop, link, number, on_end=on_end)
        Running.__init__(self, loop, config, number)

    def start(
        self, order: dict[str, Any], *, lowest: Callable[[], int], full: str | None = None
    ) -> None:
        """Start the command on a new terminal; OSError, ValueError or KeyError when it cannot.

        ``full`` is why it may write to no file; the terminal shows it first.
        """
        words = (order.get("command") or SHELL) if full is None else _after(full, order)
        command = words.encode("utf-8", "surrogateescape")
        cwd = order["cwd"].encode("utf-8", "surrogateescape")
        if b"\0" in command or b"\0" in cwd or len(command) > MAX_COMMAND:
            raise ValueError(f"command: text without NUL of at most {MAX_COMMAND} bytes expected")
        size = {name: int(order[name]) for name in ("columns", "rows")}
        self._terminal = Terminal(self._config, **size)
        spare = Spare(self._config, witness=None, terminal=self._terminal, may_write=full is None)
        spare.start(command, cwd, self.mark)
        self._follow(spare, lowest)
        self.begin(spare.output)

    def read(self, size: int) -> bytes:
        """Return what the terminal shows."""
        return self._spare.read(size)

    def resize(self, columns: int, rows: int) -> None:
        """Give it another size; its programs are told by a signal."""
        if not self._done:
            self._terminal.resize(columns, rows)

    def release(self) -> None:
        """Close the terminal."""
        self._stop_timers()
        self._spare.discard()

    def output_ended(self) -> None:
        """Nothing holds the terminal any more; the end of the shell is told by its exit."""
        if self._status is not None:
            self._finish()

    def _ended_by_itself(self) -> None:
        if self._output_over:
            self._finish()
        else:
            self._timers.append(self._loop.after(DRAIN_SECONDS, self._drained))

    def _drained(self) -> None:
        if self._reading:
            self._finish()
        else:
            # The host has not yet taken the last words.
            self._timers.append(self._loop.after(DRAIN_SECONDS, self._drained))

    def _finish(self) -> None:
        failure = self._spare.failure()
        if failure:
            self.finish({"error": failure, "code": "invalid"})
            return
        ending = self._ending()
        told = {name: ending[name] for name in ("exit_code", "signal")}
        self.finish({"data": {**told, "reason": self._why}})


def _after(words: str, order: dict[str, Any]) -> str:
    quoted = words.replace("'", "'\\''")
    return f"printf '[%s]\\n' '{quoted}' >&2; {order.get('command') or SHELL}"
