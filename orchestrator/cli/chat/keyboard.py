"""The keys of a terminal, with a paste kept apart from what is pressed.

A paste is one text, however it is cut into reads and whatever marks it holds itself: an end mark in
the middle of it must not turn the rest into keys that nobody pressed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TextIO

from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

from orchestrator.schema.pasting import PASTE_BEGIN, PASTE_END, without_marks


class Keyboard(Vt100Input):
    """Reads a terminal's input; ``flush_keys`` is called once it has been silent for a moment."""

    def __init__(self, source: TextIO, now: Callable[[], float] = time.monotonic) -> None:
        """Read ``source``, a terminal; ``now`` is in seconds."""
        super().__init__(source)
        self._now = now
        self._last = -math.inf
        self._begun = ""
        self._pasted: list[str] | None = None

    @property
    def silent_s(self) -> float:
        """How long nothing has come in, in seconds."""
        return self._now() - self._last

    @property
    def is_pasting(self) -> bool:
        """Say whether a paste has begun and not ended yet."""
        return self._pasted is not None

    def read_keys(self) -> list[KeyPress]:
        """Return what was pressed since; what belongs to a paste comes with ``flush_keys``."""
        data = self.stdin_reader.read()
        if data:
            self._last = self._now()
        if self._pasted is None:
            before, mark, data = (self._begun + data).partition(PASTE_BEGIN)
            self._begun = "" if mark else _beginning(before)
            self.vt100_parser.feed(before.removesuffix(self._begun) if self._begun else before)
            self._pasted = [] if mark else None
        if self._pasted is not None:
            self._pasted.append(data)
        return self._taken()

    def flush_keys(self) -> list[KeyPress]:
        """Return what nothing follows at once: a paste that has ended, or Esc."""
        self.vt100_parser.feed(self._begun)
        self._begun = ""
        self.vt100_parser.flush()
        keys = self._taken()
        text = "".join(self._pasted or ())
        if PASTE_END in text:
            # What came in one go with the mark is pasted too, whether or not that was the mark.
            self._pasted = None
            keys.append(KeyPress(Keys.BracketedPaste, without_marks(text)))
        return keys

    def _taken(self) -> list[KeyPress]:
        keys, self._buffer = self._buffer, []
        return keys


def _beginning(text: str) -> str:
    """Return the end of a text that may be the beginning of a paste's mark."""
    sizes = range(len(PASTE_BEGIN) - 1, 0, -1)
    return next((PASTE_BEGIN[:size] for size in sizes if text.endswith(PASTE_BEGIN[:size])), "")
