"""Which program of the box made a connection, as far as it can be told; for people to read.

The kernel's own table tells for sure, but to read it takes many milliseconds, however little is in
it. So a connection is taken for that of the one program that opened a socket since the last one,
or else a moment ago: several at one time are seen at once. The table is read where several did, and
not often. The server itself, which has an end of each, is none of them. A program can hide from all
this, by ending at once for one: nothing is decided by it.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from privilege import as_command

if TYPE_CHECKING:
    from config import Config

    End = tuple[str, int]

MOST_PROCESSES = 256
MOST_DESCRIPTORS = 256
"""Looked at of one process each time; of one that has more, those that are new."""
MOST_LISTED = 4096
"""Descriptors of all processes together, for one connection: a program may open very many."""
MOST_TABLE = 256 * 1024
"""Bytes of the kernel's table that are looked through."""
TABLE_SECONDS = 0.5
"""Between two readings of the table."""
LEFT_SECONDS = 1.0
"""That a program's sockets which were seen but not yet found may still be found to be its."""
MOST_PATH = 1024
MOST_ARGUMENTS = 32
MOST_ARGUMENT = 512
_FIELDS = 10
"""Up to the socket's number."""
_MAPPED = b"0000000000000000FFFF0000"
"""What stands before an IPv4 address in the table of the other family."""


class Callers:
    """Finds callers, and remembers which sockets each program had."""

    def __init__(self, config: Config, proc: str = "/proc") -> None:
        self._config = config
        self._proc = proc
        self._sockets: dict[str, dict[str, str]] = {}
        """Of a process, by descriptor."""
        self._left_over: dict[str, tuple[int, float]] = {}
        """Of a process: sockets seen and not yet found, and until when they count."""
        self._left = 0
        self._next_table = 0.0

    def find(self, here: End, there: End, kind: str = "tcp") -> dict[str, Any] | None:
        """Return the caller that talks from ``there`` to ``here``; None where it cannot be told."""
        self._left = MOST_LISTED
        try:
            with as_command(self._config):
                pid = self._caller(here, there, kind)
                return self._told(pid) if pid else None
        except (OSError, ValueError):
            return None

    def _caller(self, here: End, there: End, kind: str) -> str | None:
        own = str(os.getpid())
        pids = sorted(filter(str.isdigit, os.listdir(self._proc)), key=int, reverse=True)
        pids = [pid for pid in pids if pid != own]
        for gone in self._sockets.keys() - set(pids):
            del self._sockets[gone]
        now = time.monotonic()
        left = {pid: count for pid, (count, end) in self._left_over.items() if now < end and count}
        fresh = {pid: new for pid in pids[:MOST_PROCESSES] if (new := self._new(pid))}
        # What was opened since the last one is likelier than what was there before it.
        among = list(fresh or (pid for pid in left if pid in self._sockets))
        for pid, new in fresh.items():
            left[pid] = left.get(pid, 0) + new
        found = among[0] if len(among) == 1 else self._by_table(here, there, kind, among)
        if found is not None:
            left[found] -= 1
        self._left_over = {
            pid: (count, now + LEFT_SECONDS if pid in fresh else self._left_over[pid][1])
            for pid, count in left.items()
        }
        return found

    def _by_table(self, here: End, there: End, kind: str, among: list[str]) -> str | None:
        """Return which of several processes the kernel says it is; None where it is not asked."""
        now = time.monotonic()
        if not among or now < self._next_table:
            return None
        self._next_table = now + TABLE_SECONDS
        wanted = self._socket(here, there, kind)
        holders = (pid for pid in among if wanted in self._sockets[pid].values())
        return next(holders, None)

    def _new(self, pid: str) -> int:
        """Return how many sockets a process has that it had not when it was last looked at."""
        folder = f"{self._proc}/{pid}/fd"
        names = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    names.append(entry.name)
                    self._left -= 1
                    if self._left < 0:
                        return 0
        except OSError:
            # Another user's, or gone.
            return 0
        before = self._sockets.get(pid, {})
        found = {}
        for name in names:
            if len(names) > MOST_DESCRIPTORS and name in before:
                found[name] = before[name]
                continue
            try:
                link = os.readlink(f"{folder}/{name}")
            except OSError:
                continue
            if link.startswith("socket:"):
                found[name] = link
        self._sockets[pid] = found
        return len(set(found.values()) - set(before.values()))

    def _socket(self, here: End, there: End, kind: str) -> str:
        """Return what a link to the socket of the program reads; nothing where the table has none."""
        far, near = _hex(here), _hex(there)
        # A socket of the other family reaches us too, and many programs have no other.
        for table, before in ((kind, b""), (f"{kind}6", _MAPPED)):
            address, _, port = (before + near).partition(b":")
            bound, connected = {address + b":" + port}, before + far
            if kind == "udp":
                # One that sends a datagram need be neither bound nor connected to an address.
                bound.add(b"0" * len(address) + b":" + port)
                connected = b""
            number = self._look(table, bound, connected)
            if number is not None:
                return f"socket:[{number}]"
        return ""

    def _look(self, table: str, bound: set[bytes], connected: bytes) -> str | None:
        text = b""
        try:
            with open(f"{self._proc}/net/{table}", "rb", buffering=0) as file:
                while len(text) < MOST_TABLE and (more := file.read(MOST_TABLE - len(text))):
                    text += more
        except FileNotFoundError:
            return None
        for line in text.splitlines():
            fields = line.split(maxsplit=_FIELDS)
            if len(fields) < _FIELDS or fields[1] not in bound or fields[9] == b"0":
                continue
            if not connected or fields[2] == connected:
                return fields[9].decode("ascii")
        return None

    def _told(self, pid: str) -> dict[str, Any]:
        with open(f"{self._proc}/{pid}/cmdline", "rb", buffering=0) as file:
            words = file.read(MOST_ARGUMENTS * MOST_ARGUMENT).split(b"\0")[:-1]
        return {
            "pid": int(pid),
            "program": _text(os.readlink(os.fsencode(f"{self._proc}/{pid}/exe")), MOST_PATH),
            "argv": [_text(word, MOST_ARGUMENT) for word in words[:MOST_ARGUMENTS]],
        }


def _hex(end: End) -> bytes:
    """Return an IPv4 end as the kernel writes it: the address's bytes backwards."""
    address, port = end
    number = "".join(f"{int(part):02X}" for part in reversed(address.split(".")))
    return f"{number}:{port:04X}".encode()


def _text(data: bytes, most: int) -> str:
    return data[:most].decode("utf-8", "replace")
