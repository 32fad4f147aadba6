"""Descriptors that are many and busy, a few at a time: between any two turns calls come first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from descriptors import Descriptors

if TYPE_CHECKING:
    from descriptors import Handler
    from loop import Loop

MOST_A_TURN = 16
"""Handlers called before the loop looks at everything else again: about a millisecond."""


class SideLoop(Descriptors):
    """An epoll within the loop's own; timers are the loop's."""

    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self._loop = loop
        self.paused = True
        self.go_on()

    def pause(self) -> None:
        """Let everything wait."""
        if not self.paused:
            self.paused = True
            self._loop.on_readable(self._poll.fileno(), None)

    def go_on(self) -> None:
        """Serve what waited."""
        if self.paused:
            self.paused = False
            self._loop.on_readable(self._poll.fileno(), self._turn)

    def after(self, seconds: float, handler: Handler) -> int:
        """Call ``handler`` once, later; returns a number for ``cancel``."""
        return self._loop.after(seconds, handler)

    def cancel(self, number: int) -> None:
        """Forget a timer that may have fired already."""
        self._loop.cancel(number)

    def close(self) -> None:
        """Wait for nothing any more."""
        self.pause()
        self._readers.clear()
        self._writers.clear()
        self._poll.close()

    def _turn(self) -> None:
        if not self.paused:
            self.call_ready(0, MOST_A_TURN)
