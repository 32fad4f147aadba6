"""Labels on everything an engine keeps for us: whose it is, and whether that one still lives."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

SESSION = "glovebox.session"
OWNER = "glovebox.owner"
KIND = "glovebox.kind"

BOX = "box"
"""The kind of a session's container; ``volumes`` names the others."""
LEASE = "lease:"
"""How the label of an owner begins that is no process but a locked file."""
SERVICE = "service"
"""The kind of a container beside a box."""

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
    another boot id is that of an earlier boot. A lease is alive while its file is locked.
    """
    if owner.startswith(LEASE):
        return _is_leased(owner, same_machine=same_machine, proc=proc)
    parts = owner.split(":")
    if len(parts) != 4 or not (parts[0].isdecimal() and parts[1].isdecimal()):
        return False
    pid, start, boot, namespace = parts
    if boot != _boot_id(proc):
        return not same_machine
    if namespace != _namespace(proc):
        return True
    return _start_time(int(pid), proc) == int(start)


def lease_label(path: Path, *, proc: Path = _PROC) -> str:
    """Return the owner label of what belongs to whoever holds the lock of a file.

    ``lease:boot id:mount namespace:path``; ``lease.Lease`` is the lock.
    """
    return f"{LEASE}{_boot_id(proc)}:{_mount_namespace(proc)}:{path}"


def is_locked(path: Path) -> bool:
    """False only where the file is known to be gone, or known to be locked by nobody."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # Another user's, most likely.
        return True
    try:
        # Shared, so that two who look at the same time do not see each other.
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def _is_leased(owner: str, *, same_machine: bool, proc: Path) -> bool:
    parts = owner.removeprefix(LEASE).split(":", 2)
    if len(parts) != 3 or not parts[2].startswith("/"):
        return False
    boot, namespace, path = parts
    if boot != _boot_id(proc):
        return not same_machine
    # In another mount namespace the path may name another file, or none.
    return namespace != _mount_namespace(proc) or is_locked(Path(path))


def _mount_namespace(proc: Path) -> str:
    link = str((proc / "self/ns/mnt").readlink())
    return link.removeprefix("mnt:[").removesuffix("]")


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
