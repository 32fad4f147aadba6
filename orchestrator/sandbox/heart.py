"""The host's heartbeat: tells every box once a second that this process lives, and hears back.

A thread of its own, since the event loop may be busy for a while without being dead. A process
that is stopped or killed takes the thread along, and the box then ends itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.sandbox.link import Link

BEAT_S = 1.0
SILENCE_S = 20.0
"""Without an answer after which a box counts as hung. Long: a starved box is not a broken one.

Counted in beats: time in which this process itself stood still is no silence of the box.
"""


@dataclass(slots=True)
class Pulse:
    """One box's: where to beat, how often it has not answered, whom to tell when it does not."""

    link: Link
    on_silence: Callable[[], None]
    """Called from the heart's thread, once."""
    unanswered: int = 0
    """Beats since the last answer."""

    def answered(self) -> None:
        """Note that the box answered just now."""
        self.unanswered = 0


class Heart:
    """Beats while it has something to beat for."""

    def __init__(self, *, beat_s: float = BEAT_S, silence_s: float = SILENCE_S) -> None:
        """Start no thread yet."""
        self._beat_s = beat_s
        self._most_unanswered = silence_s / beat_s
        self._lock = threading.Lock()
        self._pulses: list[Pulse] = []
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, link: Link, on_silence: Callable[[], None]) -> Pulse:
        """Begin to beat for a box."""
        pulse = Pulse(link, on_silence)
        with self._lock:
            self._pulses.append(pulse)
            if self._thread is None:
                self._wake.clear()
                self._thread = threading.Thread(target=self._beat, name="heart", daemon=True)
                self._thread.start()
        return pulse

    def remove(self, pulse: Pulse) -> None:
        """Stop beating for a box; a second time is no error."""
        with self._lock:
            if pulse in self._pulses:
                self._pulses.remove(pulse)
            if not self._pulses:
                self._wake.set()

    def _beat(self) -> None:
        while True:
            self._wake.wait(self._beat_s)
            with self._lock:
                if not self._pulses:
                    self._thread = None
                    return
                self._wake.clear()
                pulses = list(self._pulses)
            for pulse in pulses:
                if pulse.unanswered > self._most_unanswered:
                    self.remove(pulse)
                    pulse.on_silence()
                    continue
                # Before the beat: its answer may be here before the next line.
                pulse.unanswered += 1
                pulse.link.ping()
