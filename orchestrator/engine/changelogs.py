"""Changelogs of the engine's installed packages: they name the fixes that version numbers hide."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

DOCUMENTS = Path("/usr/share/doc")
_MOST = 4 * 1024 * 1024
"""Bytes of a changelog that are read; runc's has a tenth of it."""


def read_changelogs(components: Mapping[str, str], *, root: Path = DOCUMENTS) -> dict[str, str]:
    """Return the changelog of each component whose package on this machine is of that version.

    Ask only for an engine of this machine: another's packages are not in this directory.
    """
    found = {}
    for name, version in components.items():
        text = _read(root / name / "changelog.Debian.gz") if name.isalnum() else ""
        first = text.split("\n", 1)[0]
        # The engine may be older than the package: it runs on until it is restarted.
        if version and f"({version})" in first:
            found[name] = text
    return found


def _read(path: Path) -> str:
    try:
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
            return file.read(_MOST)
    except (OSError, EOFError):
        return ""
