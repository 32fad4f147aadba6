"""When an image was last used by a box of this host, kept in its state; no engine tells it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.schema.ids import Digest


def note_use(paths: Paths, *digests: Digest) -> None:
    """Note that a box starts from these images now."""
    folder = _folder(paths)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for digest in digests:
        file = folder / digest.partition(":")[2]
        file.touch(mode=0o600)
        os.utime(file)


def last_uses(paths: Paths) -> Mapping[Digest, int]:
    """Return seconds since the epoch by image."""
    folder = _folder(paths)
    files = list(folder.iterdir()) if folder.is_dir() else []
    return {Digest(f"sha256:{file.name}"): int(file.stat().st_mtime) for file in files}


def forget_uses(paths: Paths, present: set[Digest]) -> None:
    """Forget the images that are gone."""
    for digest in last_uses(paths).keys() - present:
        (_folder(paths) / digest.partition(":")[2]).unlink(missing_ok=True)


def _folder(paths: Paths) -> Path:
    return paths.state / "images"
