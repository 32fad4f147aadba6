# ruff: noqa: S108 - the names of temporary directories, no files in them
"""Which directories an agent may be put to work on: a project, never a whole machine or home."""

from __future__ import annotations

import os
from pathlib import Path

from orchestrator.errors import UsageError

SYSTEM = frozenset(
    [
        "/",
        "/bin",
        "/boot",
        "/dev",
        "/etc",
        "/home",
        "/lib",
        "/lib64",
        "/media",
        "/mnt",
        "/opt",
        "/proc",
        "/root",
        "/run",
        "/sbin",
        "/srv",
        "/sys",
        "/tmp",
        "/usr",
        "/var",
        "/var/lib",
        "/var/tmp",
    ]
)
"""Directories that hold other people's things, or the machine itself."""
WHOLE = ("/boot", "/dev", "/etc", "/proc", "/sys", "/usr", "/var/lib/docker")
"""Nothing below these is a project either."""


def check_project(directory: Path, *, home: Path, state: Path, named: str = "--cd") -> None:
    """Raise UsageError unless ``directory``, absolute and resolved, can go into a box.

    ``named`` is where: a flag, or a command that takes it as an argument.
    """
    why = _why_not(directory, home=home, state=state)
    if why:
        raise UsageError(
            f"{named} {os.fsencode(directory).decode('utf-8', 'backslashreplace')}: {why}",
            hint="name a project's own directory, such as ~/src/app",
        )


def _why_not(directory: Path, *, home: Path, state: Path) -> str:
    try:
        str(directory).encode()
    except UnicodeEncodeError:
        return "its name is no valid UTF-8, which session files and engines need"
    if directory == home or directory in home.parents:
        return "it holds your home directory, with all its keys"
    if str(directory) in SYSTEM or any(directory.is_relative_to(root) for root in WHOLE):
        return "it is a directory of the system"
    if directory.is_relative_to(state) or state.is_relative_to(directory):
        return f"the sessions' own state is kept there ({state})"
    return ""
