"""Whether something of the host is known to be gone, which is more than not being seen."""

from __future__ import annotations

from pathlib import Path


def is_gone(path: Path) -> bool:
    """True only where the path does not exist; another user's, which cannot be seen, is not gone."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
