"""The files of pools that are over: lock, log, order and socket, which a killed pool leaves."""

from __future__ import annotations

import re
import time
from pathlib import Path

from orchestrator.engine.lease import Lease

STARTING_S = 60.0
"""A pool that is being started has files before it has its lock."""

_FILE = re.compile(r"([0-9a-f]{16})\.(lock|log|json|new|sock)")


def remove_remains(directory: Path) -> list[str]:
    """Remove the files of every pool that is surely over; return these pools' names.

    Surely: nobody holds its lock, and none of its files is so young that it may just be starting.
    """
    files: dict[str, list[Path]] = {}
    for path in sorted(directory.iterdir()):
        if (match := _FILE.fullmatch(path.name)) is not None:
            files.setdefault(match[1], []).append(path)
    return [name for name, paths in files.items() if _remove(directory / f"{name}.lock", paths)]


def _remove(lock: Path, paths: list[Path]) -> bool:
    if any(_is_young(path) for path in paths):
        return False
    try:
        lease = Lease.take(lock)
    except BlockingIOError:
        return False
    try:
        for path in {*paths, lock}:
            path.unlink(missing_ok=True)
    finally:
        # Held until now: a pool that starts meanwhile finds the name taken, or a new file.
        lease.close()
    return True


def _is_young(path: Path) -> bool:
    try:
        return time.time() - path.lstat().st_mtime < STARTING_S
    except FileNotFoundError:
        return False
