"""Boxes on a real disk with a budget so small that filling it takes a moment."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from orchestrator.schema.mount import Mount
from tests.support.boxes import LIMITS, MIB

BUDGET = 64 * MIB


@contextmanager
def folder_on_disk() -> Iterator[Path]:
    """A directory on the host's own file system, which no size limits; the box's user's."""
    folder = Path(tempfile.mkdtemp(prefix="gb-disk-", dir="/var/tmp"))
    os.chown(folder, *ids())
    try:
        yield folder
    finally:
        # Deeper than Python goes, and closed even to its owner.
        if subprocess.run(["rm", "-rf", folder], capture_output=True, check=False).returncode:
            subprocess.run(["chmod", "-R", "u+rwx", folder], check=True)
            subprocess.run(["rm", "-rf", folder], check=True)


def ids() -> tuple[int, int]:
    """Return whom the box's commands run as."""
    return (1000, 1000) if os.geteuid() == 0 else (os.geteuid(), os.getegid())


def changes(folder: Path, *more: Mount, **limits: Any) -> dict[str, Any]:
    """Return what makes a small box one on this folder, with the small budget."""
    uid, gid = ids()
    mounts = (Mount("bind", str(folder), "/workspace"), *more)
    bounds = replace(LIMITS, **{"disk": BUDGET, "file_size": 2048 * MIB, **limits})
    return {"mounts": mounts, "limits": bounds, "uid": uid, "gid": gid}
