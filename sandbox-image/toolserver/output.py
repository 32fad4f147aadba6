"""The output of one command: its head and tail in memory, all of it in a spill file when long."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING, Any

from privilege import as_command

if TYPE_CHECKING:
    from config import Config

KEPT_BYTES = 50_000
KEPT_LINES = 2_000
HEAD_BYTES = 15_000
HEAD_LINES = 600
TAIL_BYTES = KEPT_BYTES - HEAD_BYTES
TAIL_LINES = KEPT_LINES - HEAD_LINES


class Output:
    """Takes bytes as they come and holds at most a few times KEPT_BYTES of them."""

    def __init__(self, config: Config, name: str) -> None:
        self._config = config
        self._name = name
        self._start: bytearray | None = bytearray()
        """Everything, until it is too much to keep."""
        self._head = b""
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._spill_fd: int | None = None
        self._spill_path: str | None = None
        self.total_bytes = 0
        self._newlines = 0
        self._last = b"\n"

    def add(self, data: bytes) -> None:
        """Take the next piece."""
        self.total_bytes += len(data)
        self._newlines += data.count(b"\n")
        self._last = data[-1:]
        if self._start is None:
            self._spill(data)
            self._keep_tail(data)
            return
        self._start += data
        if len(self._start) > KEPT_BYTES or self._newlines > KEPT_LINES:
            whole = bytes(self._start)
            self._start = None
            self._open_spill()
            self._spill(whole)
            self._head = first_part(whole)
            self._keep_tail(whole[len(self._head) :])

    def summary(self) -> dict[str, Any]:
        """Return what the outcome says of the output; nothing may be added after."""
        self._close_spill()
        if self._start is not None:
            head, tail = bytes(self._start), b""
        else:
            head, tail = self._head, last_part(b"".join(self._tail))
        return {
            "head": head.decode("utf-8", "replace"),
            "tail": tail.decode("utf-8", "replace"),
            "total_bytes": self.total_bytes,
            "total_lines": self._newlines + (self._last != b"\n"),
            "spill": self._spill_path,
        }

    def _keep_tail(self, data: bytes) -> None:
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= TAIL_BYTES:
            self._tail_size -= len(self._tail.popleft())

    def _open_spill(self) -> None:
        folder = self._config.spill_dir
        path = f"{folder}/{self._name}.log"
        try:
            # As the command's user: whatever a command put in the way gains it nothing.
            with as_command(self._config):
                os.makedirs(folder, mode=0o700, exist_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                self._spill_fd = os.open(path, flags, 0o600)
        except OSError:
            return
        self._spill_path = path

    def _spill(self, data: bytes) -> None:
        if self._spill_fd is None:
            return
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._spill_fd, view) :]
        except OSError:
            # A full /tmp ends the spill, not the command; half a text must not pass for the whole.
            self._close_spill()
            self._drop_spill()

    def _close_spill(self) -> None:
        if self._spill_fd is not None:
            os.close(self._spill_fd)
            self._spill_fd = None

    def _drop_spill(self) -> None:
        path, self._spill_path = self._spill_path, None
        if path is None:
            return
        try:
            with as_command(self._config):
                os.unlink(path)
        except OSError:
            return


def first_part(data: bytes) -> bytes:
    """Return the head of a long output: whole lines where they fit, else whole characters."""
    end = HEAD_BYTES
    line_end = -1
    for _ in range(HEAD_LINES):
        found = data.find(b"\n", line_end + 1, end)
        if found < 0:
            break
        line_end = found
    if line_end >= 0:
        return data[: line_end + 1]
    while end > HEAD_BYTES - 4 and end < len(data) and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end]


def last_part(data: bytes) -> bytes:
    """Return the tail of a long output: whole lines where they fit, else whole characters."""
    start = max(0, len(data) - TAIL_BYTES)
    cut = start > 0
    stop = len(data) - data.endswith(b"\n")
    line_start = stop
    for _ in range(TAIL_LINES):
        found = data.rfind(b"\n", start, line_start)
        if found < 0:
            if not cut:
                return data
            break
        line_start = found
    if line_start < stop:
        return data[line_start + 1 :]
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]
