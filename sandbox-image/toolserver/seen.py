"""What one command started, as far as the host does not know it yet.

Repetitions are listed to a limit and counted after that, what is new always; so a command cannot
hide one program behind ten thousand others.
"""

from __future__ import annotations

import json
import os
from typing import Any

SOON = 0.02
"""Seconds that records are gathered before they are sent."""
LATER = 1.0
"""The same after the call they belong to was answered."""
MOST_REPEATED = 2000
"""Records of one command after which only what is new is listed."""
MOST_NEW = 20_000
MOST_WAITING = 512 * 1024
"""Bytes of records that are sent without waiting any longer."""

_CUT, _UNREADABLE = 1, 2


class Seen:
    """What one command started, between two reports to the host."""

    def __init__(self, call: int, shell: int) -> None:
        """``shell`` is the process that becomes the command's shell, which is no news."""
        self.call = call
        self.delay = SOON
        self._shell = shell
        self._known: set[int] = set()
        self._listed = 0
        self._waiting: list[dict[str, Any]] = []
        self._bytes = 0
        self._unlisted = 0

    @property
    def is_full(self) -> bool:
        """True where what waits should go out now."""
        return self._bytes >= MOST_WAITING

    def add(self, who: tuple[int, int], flags: int, text: bytes) -> None:
        """Take one record: process and parent, what is not known, path and arguments."""
        pid, parent = who
        if pid == self._shell:
            self._shell = 0
            return
        new = hash(text)
        if flags & _UNREADABLE == 0 and new in self._known:
            if self._listed >= MOST_REPEATED:
                self._unlisted += 1
                return
        elif len(self._known) >= MOST_NEW:
            self._unlisted += 1
            return
        self._known.add(new)
        self._listed += 1
        self._bytes += len(text)
        words = text.decode("utf-8", "replace").split("\0")
        path, real, whole, by = (*words[:4], "", "", "", "")[:4]
        lines, argv = whole.split("\n")[:-1], words[4:-1]
        before = self._waiting[-1] if self._waiting else None
        if before is not None and _tries_path(before, pid, path, argv):
            before.update(path=path, real=real, lines=lines)
            return
        self._waiting.append(
            {
                "pid": pid,
                "parent": parent,
                "path": path,
                "real": real,
                "lines": lines,
                "by": by,
                "argv": argv,
                "cut": bool(flags & _CUT),
                "unreadable": bool(flags & _UNREADABLE),
            }
        )

    def report(self, *, last: bool) -> bytes | None:
        """Return what is to be told, once; None where that is nothing."""
        if not (self._waiting or self._unlisted or last):
            return None
        body = {
            "execs": self._waiting,
            "unlisted": self._unlisted,
            "overflow": len(self._known) >= MOST_NEW,
            "last": last,
        }
        self._waiting, self._unlisted, self._bytes = [], 0, 0
        return json.dumps(body).encode()


def _tries_path(before: dict[str, Any], pid: int, path: str, argv: list[str]) -> bool:
    """Say whether a process looks for one program in the next directory of PATH."""
    return bool(
        before["pid"] == pid
        and before["argv"] == argv
        and os.path.basename(before["path"]) == os.path.basename(path)
    )
