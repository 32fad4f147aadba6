"""Empty things that are mounted over what a box is not to see."""

from __future__ import annotations

from pathlib import Path


def cover(folder: Path, *, is_directory: bool) -> Path:
    """Return an empty directory or file below ``folder``, made where it lacks."""
    path = folder / ("no-directory" if is_directory else "no-file")
    if is_directory:
        path.mkdir(mode=0o500, exist_ok=True)
    elif not path.exists():
        path.touch(mode=0o400)
    return path
