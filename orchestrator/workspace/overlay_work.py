"""The kernel's own directory of an overlay, which holds what only root may remove."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path

from orchestrator.engine.client import Engine
from orchestrator.engine.volumes import copier
from orchestrator.schema.mount import Mount

_HOLE = "/layers"
"""Where the helper container sees the directory; nothing runs in it."""


def clear_work(folder: Path, *, engine: Engine, image: str, labels: Mapping[str, str]) -> None:
    """Let the engine remove what the kernel made as root in ``work``; root needs no help.

    An archive's file takes the place of a directory, so nothing has to run for it.
    """
    work = folder / "work"
    if os.geteuid() == 0 or not work.exists() or not any(work.iterdir()):
        return
    member = tarfile.TarInfo("work")
    member.uid, member.gid = os.geteuid(), os.getegid()
    with io.BytesIO() as buffer:
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            archive.addfile(member)
        data = buffer.getvalue()
    with copier(engine, image, Mount("bind", str(work), _HOLE), labels=labels) as helper:
        helper.put(_HOLE, [data])
