"""The lines that give the command's user a name: without them ``whoami`` and many runtimes fail."""

from __future__ import annotations

from dataclasses import dataclass

MAX_BYTES = 1024**2
"""Of an image's passwd or group file that is kept; a larger one is nobody's list of users."""


@dataclass(frozen=True, slots=True)
class BoxUser:
    """The user of every command in a box."""

    uid: int
    gid: int
    name: str
    home: str
    shell: str


def passwd_with(user: BoxUser, passwd: bytes) -> bytes:
    """Return an image's passwd file in which ``user`` is the first of its name and number."""
    line = f"{user.name}:x:{user.uid}:{user.gid}:{user.name}:{user.home}:{user.shell}"
    return _with_line(line, passwd or b"root:x:0:0:root:/root:/bin/sh\n")


def group_with(user: BoxUser, group: bytes) -> bytes:
    """Return an image's group file in which the user's group is the first of its name and number."""
    return _with_line(f"{user.name}:x:{user.gid}:", group or b"root:x:0:\n")


def _with_line(line: str, text: bytes) -> bytes:
    """Put the line before the first that has its number, and drop those that have its name."""
    wanted = line.encode()
    name, _, number, *_ = wanted.split(b":")
    lines = [old for old in text.splitlines() if old.split(b":")[0] != name]
    same = (at for at, old in enumerate(lines) if old.split(b":")[2:3] == [number])
    lines.insert(next(same, len(lines)), wanted)
    return b"\n".join(lines) + b"\n"
