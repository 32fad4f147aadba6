"""Reads the usage out of an answer beside its way to the client; nothing waits for it."""

from __future__ import annotations

import json

from orchestrator.egress.endpoint.routes import Shape
from orchestrator.egress.endpoint.usage import (
    Counts,
    counts_in,
    kept_longer,
    merge_counts,
    usage_of,
)
from orchestrator.schema.message import Usage

_MAX_LINE = 8 * 1024 * 1024
"""Bytes of one event that are kept: a whole answer stands in the last one of Responses."""
_MAX_BODY = 32 * 1024 * 1024
_EVENT_BYTES = 110
"""What an event of a stream has beside its text."""
_BYTES_A_TOKEN = 3


class Meter:
    """Takes an answer's bytes as they pass."""

    def __init__(self, shape: Shape, *, events: bool) -> None:
        """``events``: it is a stream of server-sent events, not one JSON text."""
        self._shape = shape
        self._is_stream = events
        self._counts: Counts = {}
        self._held = bytearray()
        self._skipping = False
        self.bytes = 0
        self.events = 0

    def feed(self, data: bytes) -> None:
        """Take what came next."""
        self.bytes += len(data)
        if self._is_stream:
            self._feed_lines(data)
        elif self.bytes <= _MAX_BODY:
            self._held += data

    def finish(self) -> None:
        """Take the end."""
        if self._is_stream:
            self._feed_lines(b"\n")
        elif self.bytes <= _MAX_BODY:
            self._read(bytes(self._held))
        self._held.clear()

    @property
    def usage(self) -> Usage | None:
        """What the provider reported so far; None: nothing."""
        return usage_of(self._counts, self._shape) if self._counts else None

    @property
    def kept_longer(self) -> int:
        """Tokens that were written to a cache for an hour."""
        return kept_longer(self._counts)

    @property
    def output_estimate(self) -> int:
        """Tokens that the answer so far may have, by its bytes; an event has one at least."""
        text = max(self.bytes - self.events * _EVENT_BYTES, 0)
        return max(text // _BYTES_A_TOKEN, self.events)

    def _feed_lines(self, data: bytes) -> None:
        *whole, rest = data.split(b"\n")
        for piece in whole:
            line = bytes(self._held) + piece if self._held else piece
            self._held.clear()
            if not self._skipping:
                self._line(line)
            self._skipping = False
        self._held += rest
        if len(self._held) > _MAX_LINE:
            self._held.clear()
            self._skipping = True

    def _line(self, line: bytes) -> None:
        if not line.startswith(b"data:"):
            return
        self.events += 1
        # A text about usage costs a look; a stream without any costs none.
        if b'"usage' in line:
            self._read(line[5:])

    def _read(self, raw: bytes) -> None:
        try:
            data = json.loads(raw)
        except (ValueError, RecursionError):
            return
        # Gemini's stream without events is a list of answers.
        for item in data if isinstance(data, list) else [data]:
            found = counts_in(item, self._shape)
            if found:
                self._counts = merge_counts(self._counts, found)
