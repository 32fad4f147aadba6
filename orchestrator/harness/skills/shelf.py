"""Skills' files as a folder that the box gets read-only: a snapshot, named by its content.

The same skills give the same folder, so that a warm box can have been made with it before, and a
change of the user's own folder never shows in a box that runs.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.errors import SkillError
from orchestrator.skills.discover import Catalogue
from orchestrator.skills.skill import Skill

KEPT_S = 7 * 24 * 3600.0
"""Seconds that a snapshot stays after a session last began with it."""


def shelf_of(catalogue: Catalogue, paths: Paths) -> Path | None:
    """Return the folder that the skills' files are put into, None where there are none."""
    return paths.state / "skills" / catalogue.digest[7:23] if catalogue.skills else None


def shelve(catalogue: Catalogue, paths: Paths) -> Path | None:
    """Return the folder with the skills' files, None where there are none; blocks.

    Raises SkillError where it cannot be written.
    """
    wanted = shelf_of(catalogue, paths)
    if wanted is None:
        return None
    shelves = wanted.parent
    try:
        shelves.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not wanted.is_dir():
            _write(catalogue, wanted)
        os.utime(wanted)
        _sweep(shelves, keep=wanted)
    except OSError as err:
        raise SkillError(
            f"{wanted}: the skills' files cannot be put there: {err.strerror}",
            hint=f"mend the rights of {shelves}",
        ) from err
    return wanted


def _write(catalogue: Catalogue, wanted: Path) -> None:
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=wanted.parent))
    for skill in catalogue.skills.values():
        _write_skill(skill, fresh / skill.name)
    fresh.chmod(0o755)
    try:
        fresh.rename(wanted)
    except OSError:
        shutil.rmtree(fresh)
        # Another session was first; its content is the same.
        if not wanted.is_dir():
            raise


def _write_skill(skill: Skill, folder: Path) -> None:
    for file in skill.files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
        path.chmod(0o755 if file.executable else 0o644)
    for inner in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        inner.chmod(0o755)


def _sweep(shelves: Path, *, keep: Path) -> None:
    """Remove what no session began with for a while."""
    before = time.time() - KEPT_S
    for path in shelves.iterdir():
        if path != keep and path.stat().st_mtime < before:
            shutil.rmtree(path, ignore_errors=True)
