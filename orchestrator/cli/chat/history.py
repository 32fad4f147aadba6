"""What was said before, kept between chats: a file of the user's alone, without secrets."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit.history import History

MOST = 1000
"""Lines that are kept; the file is cut to them when it holds twice as many."""
MAX_BYTES = 8 * 1024 * 1024
"""Of the newest that are read; pastes may be long."""


class SaidHistory(History):
    """One JSON string a line; what cannot be read or kept is only not remembered."""

    def __init__(self, path: Path) -> None:
        """Keep it in a file; nothing is written before ``keep`` says how secrets are left out."""
        super().__init__()
        self._path = path
        self._waiting: list[str] = []
        self._scrub: Callable[[str], str] | None = None

    def keep(self, scrub: Callable[[str], str]) -> None:
        """Write from now on what ``scrub`` gives of each text, and of those that waited."""
        self._scrub = scrub
        waiting, self._waiting = self._waiting, []
        for text in waiting:
            self.store_string(text)

    def load_history_strings(self) -> Iterable[str]:
        """Return what was kept, the newest first."""
        return reversed(self._read())

    def store_string(self, string: str) -> None:
        """Keep one text."""
        if self._scrub is None:
            self._waiting.append(string)
            return
        line = json.dumps(self._scrub(string)) + "\n"
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(self._path, flags, 0o600)
            try:
                os.write(file, line.encode())
            finally:
                os.close(file)
        except OSError:
            # A full disk ends no chat; the line is there for as long as the chat is.
            return

    def _read(self) -> list[str]:
        try:
            file = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(file, "rb") as stream:
                left_out = max(os.fstat(file).st_size - MAX_BYTES, 0)
                stream.seek(left_out)
                # Where the beginning is left out, the first line is a piece of one.
                lines = stream.read(MAX_BYTES).split(b"\n")[1 if left_out else 0 : -1]
        except OSError:
            return []
        texts = [text for line in lines if isinstance(text := _decoded(line), str)]
        if left_out or len(lines) > 2 * MOST:
            self._cut(texts[-MOST:])
        return texts[-MOST:]

    def _cut(self, texts: list[str]) -> None:
        fresh = self._path.with_suffix(f".{os.getpid()}")
        try:
            fresh.touch(0o600, exist_ok=False)
            fresh.write_text("".join(f"{json.dumps(text)}\n" for text in texts), "utf-8")
            fresh.replace(self._path)
        except OSError:
            fresh.unlink(missing_ok=True)


def _decoded(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        # A line that a full disk cut off.
        return None
