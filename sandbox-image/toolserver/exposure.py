"""What of the host a command can see: mounts, devices, and files that a box should not show."""

from __future__ import annotations

import os
import stat
from typing import Any

MOST_MOUNTS = 1000
MOST_DEVICES = 100
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
ABSENT, HIDDEN, SHOWN = "absent", "hidden", "shown"


def mounts(most: int = MOST_MOUNTS) -> list[dict[str, str]]:
    """Return each mount: target, type of file system, options, how it propagates.

    Beyond the most, one that nobody asked for stands for the rest, so that the box is refused.
    """
    found = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            before, _, after = line.partition(" - ")
            fields, kinds = before.split(), after.split()
            found.append(
                {
                    "target": _unescaped(fields[4]),
                    "kind": kinds[0],
                    "options": fields[5],
                    "propagation": ",".join(fields[6:]),
                }
            )
    if (rest := len(found) - most) > 0:
        more = {"target": f"{rest} more", "kind": "", "options": "", "propagation": ""}
        return [*found[:most], more]
    return found


def namespaces() -> dict[str, str]:
    """Return the identity of each namespace, such as ``pid:[4026532254]``."""
    found = {}
    # By name: the directory itself cannot be listed by a process that changed its user.
    for name in NAMESPACES:
        try:
            found[name] = os.readlink(f"/proc/self/ns/{name}")
        except OSError:
            found[name] = ""
    return found


def devices() -> list[str]:
    """Return every device below /dev, but the terminals that the box makes itself."""
    found = []
    for folder, subfolders, names in os.walk("/dev"):
        if "pts" in subfolders:
            subfolders.remove("pts")
        for name in names:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                found.append(path)
    return sorted(found)[:MOST_DEVICES]


def shown(paths: list[str]) -> dict[str, str]:
    """Return for each path whether it is ``absent``, ``hidden`` (tells nothing) or ``shown``."""
    return {path: _state(path) for path in paths}


def first_line(path: str) -> str:
    """Return a file's first line, empty where it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline(4096).strip()
    except OSError:
        return ""


def _state(path: str) -> str:
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            tells = bool(os.listdir(path))
        else:
            with open(path, "rb") as file:
                tells = bool(file.read(1))
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError:
        return HIDDEN
    return SHOWN if tells else HIDDEN


def _unescaped(text: str) -> str:
    """Undo the kernel's octal escapes of blanks and backslashes."""
    for code, letter in (("040", " "), ("011", "\t"), ("012", "\n"), ("134", "\\")):
        text = text.replace(f"\\{code}", letter)
    return text


def everything(request: dict[str, Any]) -> dict[str, Any]:
    """Return all of it; the host names the paths that it masked."""
    return {
        "mounts": mounts(),
        "namespaces": namespaces(),
        "devices": devices(),
        "shown": shown([str(path) for path in request.get("paths", [])]),
        "version": first_line("/proc/version"),
    }
