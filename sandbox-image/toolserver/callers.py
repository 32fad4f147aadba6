"""Which program of the box made a connection, as far as it can be told; for people to read.

A program can hide from this, by ending at once for one: nothing is decided by it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from privilege import as_command

if TYPE_CHECKING:
    from config import Config

MOST_TABLE = 512 * 1024
"""Bytes of the kernel's table of connections that are looked through."""
MOST_PROCESSES = 256
MOST_DESCRIPTORS = 4096
"""In all, for one connection."""
MOST_PATH = 1024
MOST_ARGUMENTS = 32
MOST_ARGUMENT = 512
_FIELDS = 10
"""Up to the socket's number."""
_MAPPED = b"0000000000000000FFFF0000"
"""What stands before an IPv4 address in the table of the other family."""


class Callers:
    """Finds callers; the one that called last is looked at first."""

    def __init__(self, config: Config, proc: str = "/proc") -> None:
        self._config = config
        self._proc = proc
        self._last = ""

    def find(
        self, here: tuple[str, int], there: tuple[str, int], kind: str = "tcp"
    ) -> dict[str, Any] | None:
        """Return the caller that talks from ``there`` to ``here``; None where it cannot be told."""
        try:
            with as_command(self._config):
                wanted = self._socket(here, there, kind)
                pid = self._holder(wanted) if wanted else None
                return self._told(pid) if pid else None
        except (OSError, ValueError):
            return None

    def _socket(self, here: tuple[str, int], there: tuple[str, int], kind: str) -> str | None:
        """Return what a link to the socket of the program reads."""
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
        return None

    def _look(self, table: str, bound: set[bytes], connected: bytes) -> str | None:
        try:
            with open(f"{self._proc}/net/{table}", "rb", buffering=0) as file:
                text = file.read(MOST_TABLE)
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

    def _holder(self, wanted: str) -> str | None:
        """Return the process that has the socket open."""
        left = MOST_DESCRIPTORS
        pids = [name for name in os.listdir(self._proc) if name.isdigit()]
        # The youngest first, after the one that called last.
        pids.sort(key=lambda name: (name != self._last, -int(name)))
        for pid in pids[:MOST_PROCESSES]:
            folder = f"{self._proc}/{pid}/fd"
            try:
                names = os.listdir(folder)
            except OSError:
                # Another user's, the server's own for one, or gone.
                continue
            for name in names[:left]:
                try:
                    found = os.readlink(f"{folder}/{name}")
                except OSError:
                    continue
                if found == wanted:
                    self._last = pid
                    return pid
            left -= len(names)
            if left <= 0:
                break
        return None

    def _told(self, pid: str) -> dict[str, Any]:
        with open(f"{self._proc}/{pid}/cmdline", "rb", buffering=0) as file:
            words = file.read(MOST_ARGUMENTS * MOST_ARGUMENT).split(b"\0")[:-1]
        return {
            "pid": int(pid),
            "program": _text(os.readlink(os.fsencode(f"{self._proc}/{pid}/exe")), MOST_PATH),
            "argv": [_text(word, MOST_ARGUMENT) for word in words[:MOST_ARGUMENTS]],
        }


def _hex(end: tuple[str, int]) -> bytes:
    """Return an IPv4 end as the kernel writes it: the address's bytes backwards."""
    address, port = end
    number = "".join(f"{int(part):02X}" for part in reversed(address.split(".")))
    return f"{number}:{port:04X}".encode()


def _text(data: bytes, most: int) -> str:
    return data[:most].decode("utf-8", "replace")
