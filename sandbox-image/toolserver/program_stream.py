"""A stream to a program in the box: what a terminal and pipes have in common, start to end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from running import DRAIN_SECONDS, Running
from spare import MAX_COMMAND
from stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config
    from link import Link
    from loop import Loop
    from spare import Spare
    from witness import Witness

SHELL = "exec bash -i"


class ProgramStream(Running, Stream):
    """One program, from ``start`` to its RESULT; its processes end as a command's do."""

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
        self._witness: Witness | None = None

    def start(
        self,
        order: dict[str, Any],
        *,
        lowest: Callable[[], int],
        witness: Witness | None,
        full: str | None = None,
    ) -> None:
        """Start the command; OSError, ValueError or KeyError when it cannot.

        ``witness`` sees what it starts. ``full`` is why it may write to no file; it is shown first.
        """
        words = (order.get("command") or SHELL) if full is None else _after(full, order)
        command = words.encode("utf-8", "surrogateescape")
        cwd = order["cwd"].encode("utf-8", "surrogateescape")
        if b"\0" in command or b"\0" in cwd or len(command) > MAX_COMMAND:
            raise ValueError(f"command: text without NUL of at most {MAX_COMMAND} bytes expected")
        self._witness = witness
        spare = self.spare_for(order, witness, may_write=full is None)
        spare.start(command, cwd, self.mark)
        self._follow(spare, lowest)
        self.begin(spare.output)

    def spare_for(
        self, order: dict[str, Any], witness: Witness | None, *, may_write: bool
    ) -> Spare:
        """Return a process with the streams that this kind has."""
        raise NotImplementedError

    def release(self) -> None:
        """Close what is held of it."""
        self._stop_timers()
        self._spare.discard()

    def output_ended(self) -> None:
        """Nothing holds its output any more; the end of the program is told by its exit."""
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
        if self._done:
            return
        failure = self._spare.failure()
        if self._witness is not None:
            self._witness.settle(self.number)
        if failure:
            self.finish({"error": failure, "code": "invalid"})
            return
        ending = self._ending()
        told = {name: ending[name] for name in ("exit_code", "signal")}
        self.finish({"data": {**told, "reason": ending["limit"] or self._why}})


def _after(words: str, order: dict[str, Any]) -> str:
    quoted = words.replace("'", "'\\''")
    return f"printf '[%s]\\n' '{quoted}' >&2; {order.get('command') or SHELL}"
