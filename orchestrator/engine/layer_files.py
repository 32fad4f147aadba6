"""What the glove's layer adds to an image, as one tar. Pure."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from typing import IO

from orchestrator.engine.user_files import BoxUser
from orchestrator.errors import EngineError

RUNTIME = "opt/glovebox"
LOCK = "glove"
"""The socket directory's parent; root alone may enter."""


def pack_layer(
    into: IO[bytes],
    user: BoxUser,
    files: Sequence[tuple[str, bytes]],
    *,
    links: Sequence[tuple[str, str]] = (),
    runtime: IO[bytes] | None,
    workdir: str,
) -> None:
    """Write the tar into an empty file, and rewind it: the places of a session, ``files`` and ``links`` at their paths, the runtime's tree.

    ``runtime`` is a tar of the directory ``glovebox``. Where the image has something at one of
    our places it goes first: a plain file is written in its place, then the directory.
    """
    with tarfile.open(fileobj=into, mode="w", format=tarfile.PAX_FORMAT) as archive:
        if runtime is not None:
            _directory(archive, "opt", mode=0o755)
            archive.addfile(_entry(RUNTIME))
            _copy_runtime(archive, runtime)
        archive.addfile(_entry(LOCK))
        _directory(archive, LOCK, mode=0o700)
        _directory(archive, f"{LOCK}/s", mode=0o700)
        _directory(archive, "home", mode=0o755)
        for path in (user.home, workdir):
            _directory(archive, path.strip("/"), mode=0o755, user=user)
        for path, content in files:
            entry = _entry(path.strip("/"))
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        for path, target in links:
            entry = _entry(path.strip("/"))
            entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, target, 0o777
            archive.addfile(entry)
    into.seek(0)


def _copy_runtime(archive: tarfile.TarFile, runtime: IO[bytes]) -> None:
    with tarfile.open(fileobj=runtime) as source:
        for member in source:
            if not (member.isdir() or member.isreg()):
                raise EngineError(f"sandbox image: /opt/{member.name} is no plain file")
            entry = _entry(f"opt/{member.name}")
            entry.type, entry.size, entry.mode = member.type, member.size, member.mode
            entry.mtime = member.mtime
            archive.addfile(entry, source.extractfile(member) if member.isreg() else None)
    runtime.seek(0)


def _directory(
    archive: tarfile.TarFile, name: str, *, mode: int, user: BoxUser | None = None
) -> None:
    entry = _entry(name)
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    if user is not None:
        entry.uid, entry.gid = user.uid, user.gid
    archive.addfile(entry)


def _entry(name: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.mode = 0o644
    return entry
