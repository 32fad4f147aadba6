"""Redaction of text that comes in pieces: nothing leaves while it may be half a secret."""

from __future__ import annotations

import re
from collections.abc import Callable

from orchestrator.redaction.key_blocks import open_block_start
from orchestrator.redaction.redactor import Redactor

_CONTEXT = 1024
"""Characters already written that are looked at again: names, quotes, ``machine x login y``."""
_MAX_HELD = 16_384
"""Characters of one line or token that are held back; far beyond any token."""
_MAX_BLOCK = 65_536
"""Characters of a private key block that are held until its end comes."""

_SUSPICIOUS = re.compile(
    r"(?i)passw|passphrase|secret|token|key|auth|bearer|cookie|login|credential|pwd|pass|://"
)
_BEGIN = "-----BEGIN PRIVATE KEY-----\n"


class RedactingStream:
    """Takes pieces, writes redacted text; the whole is what redacting the whole would give."""

    def __init__(self, redactor: Redactor, write: Callable[[str], None]) -> None:
        """``write`` gets each piece of safe text, in order."""
        self._redactor = redactor
        self._write = write
        self._seen = ""
        self._held = ""

    def feed(self, text: str) -> None:
        """Take the next piece and write what can no longer be part of a secret."""
        self._held += text
        self._release(self._safe_length())

    def flush(self) -> None:
        """Write the rest; the stream can go on afterwards."""
        self._release(len(self._held))

    def _release(self, count: int) -> None:
        if count <= 0:
            return
        text, done = self._seen + self._held, len(self._seen)
        safe, end = self._redactor.redact_between(text, done, done + count, slack=_MAX_BLOCK)
        # A block longer than what is held stays a block: its beginning is put in front again.
        block = _BEGIN if open_block_start(text[:end]) is not None else ""
        self._seen, self._held = block + text[max(0, end - _CONTEXT) : end], text[end:]
        if safe:
            self._write(safe)

    def _safe_length(self) -> int:
        """Return how much of the held text stands before anything that is still open."""
        held = self._held
        word = _word_start(held)
        line = held.rfind("\n") + 1
        open_at = line if _SUSPICIOUS.search(held, line) else word
        open_at = min(open_at, self._redactor.open_tail(held))
        open_at = max(open_at, len(held) - _MAX_HELD)
        block = open_block_start(held)
        if block is not None:
            open_at = min(open_at, max(block, len(held) - _MAX_BLOCK))
        return open_at


def _word_start(text: str) -> int:
    return max(text.rfind(space) for space in " \n\t") + 1
