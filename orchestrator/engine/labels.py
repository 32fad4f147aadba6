"""Labels on everything an engine keeps for us: whose it is, and whether that one still lives."""

from __future__ import annotations

import os
from pathlib import Path

SESSION = "glovebox.session"
OWNER = "glovebox.owner"
KIND = "glovebox.kind"

BOX = "box"
"""The kind of a session's container; ``volumes`` names the others."""

_PROC = Path("/proc")
_START_FIELD = 19
"""Of ``/proc/PID/stat``, counted from the field after the name in parentheses."""


def owner_label(pid: int | None = None, *, proc: Path = _PROC) -> str:
    """Return a process's identity, this one's by default: no later process ever has the same.

    ``pid:start time:boot id:pid namespace``.
    """
    number = os.getpid() if pid is None else pid
    start = _start_time(number, proc)
    if start is None:
        raise ProcessLookupError(f"no process {number}")
    return f"{number}:{start}:{_boot_id(proc)}:{_namespace(proc)}"


def is_alive(owner: str, *, same_machine: bool = True, proc: Path = _PROC) -> bool:
    """False only where the owner is known to be gone.

    A label of another machine's or another pid namespace's process says nothing here, so its
    things are left alone. ``same_machine`` tells whether only this machine uses the engine: then
    another boot id is that of an earlier boot.
    """
    parts = owner.split(":")
    if len(parts) != 4 or not (parts[0].isdecimal() and parts[1].isdecimal()):
        return False
    pid, start, boot, namespace = parts
    if boot != _boot_id(proc):
        return not same_machine
    if namespace != _namespace(proc):
        return True
    return _start_time(int(pid), proc) == int(start)


def _boot_id(proc: Path) -> str:
    return (proc / "sys/kernel/random/boot_id").read_text().strip()


def _namespace(proc: Path) -> str:
    link = str((proc / "self/ns/pid").readlink())
    return link.removeprefix("pid:[").removesuffix("]")


def _start_time(pid: int, proc: Path) -> int | None:
    try:
        text = (proc / str(pid) / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()
    # A zombie holds nothing any more.
    return None if fields[0] in {"Z", "X"} else int(fields[_START_FIELD])
