"""A terminal's record: an asciicast file (version 2) that is safe to play, without secrets."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from orchestrator.errors import AuditUnavailable
from orchestrator.schema.stream import TerminalSize
from orchestrator.terminal.sequences import SequenceFilter

MOST_BYTES = 16 * 1024 * 1024
"""Of one file; what comes after is counted, not kept."""


class TextStream(Protocol):
    """Redaction of text that comes in pieces."""

    def feed(self, text: str) -> None:
        """Take the next piece."""
        ...

    def flush(self) -> None:
        """Give out the rest."""
        ...


Redact = Callable[[Callable[[str], None]], TextStream]
"""Makes a redacting stream in front of a writer."""


class Recording:
    """One file; what cannot be written raises AuditUnavailable, since nothing goes unrecorded."""

    def __init__(self, path: Path, size: TerminalSize, *, redact: Redact, title: str) -> None:
        """Begin the file, which must not be there; only its owner may read it."""
        self.path = path
        self.complete = True
        self._size = size
        self._written = 0
        self._began = time.monotonic()
        self._filter = SequenceFilter()
        self._redacting = redact(self._put)
        header = {
            "version": 2,
            "width": size.columns,
            "height": size.rows,
            "timestamp": int(time.time()),
            "title": title,
            "env": {"TERM": "xterm-256color"},
        }
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as err:
            raise _unwritable(path, err) from err
        self._file = os.fdopen(fd, "wb", buffering=0)
        try:
            self._line(header)
        except BaseException:
            self._file.close()
            raise

    def feed(self, data: bytes) -> None:
        """Keep what the terminal was sent."""
        self._redacting.feed(self._filter.feed(data))

    def resize(self, size: TerminalSize) -> None:
        """Keep the terminal's size where it is another now."""
        if size != self._size:
            self._size = size
            self._event("r", f"{size.columns}x{size.rows}")

    def close(self) -> None:
        """Write what was held back, and close the file."""
        try:
            self._redacting.flush()
        finally:
            self._file.close()

    def _put(self, text: str) -> None:
        self._event("o", text)

    def _event(self, kind: str, text: str) -> None:
        if self._written < MOST_BYTES:
            self._line([round(time.monotonic() - self._began, 3), kind, text])
        elif self.complete:
            self.complete = False
            self._line([round(time.monotonic() - self._began, 3), "m", "the recording is full"])

    def _line(self, data: Any) -> None:
        line = json.dumps(data).encode() + b"\n"
        self._written += len(line)
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError as err:
            raise _unwritable(self.path, err) from err


def _unwritable(path: Path, err: OSError) -> AuditUnavailable:
    return AuditUnavailable(
        f"{path}: the terminal cannot be recorded, so it is not shown ({err.strerror})",
        hint="make room on the disk that holds the state directory",
    )
