"""Files in and out of a container that never runs, as the engine's tar streams.

What an image holds was written by others: only the kinds of entry that are expected are taken, and
never more bytes than were asked for.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from docker.errors import NotFound

from orchestrator.engine.archive_stream import archive_stream
from orchestrator.engine.client import Engine
from orchestrator.engine.containers import create_container
from orchestrator.engine.failure import translated
from orchestrator.errors import EngineError

_HEADERS = 64 * 1024
"""Bytes that one file's tar may hold beside its content."""
_NEVER = "/never-started"


@dataclass(frozen=True, slots=True)
class Still:
    """A container made to be read and written, never started."""

    engine: Engine
    id: str

    def put(self, archive: IO[bytes]) -> None:
        """Unpack a tar at the root, owners as in its headers."""
        with translated("copy files into the image"):
            if not self.engine.api.put_archive(self.id, "/", archive):
                raise EngineError("copy files into the image: the engine did not take them")

    def tree(self, path: str, into: IO[bytes]) -> None:
        """Write a directory as a tar into an empty file, and rewind it."""
        with (
            translated(f"read {path} of the image"),
            archive_stream(self.engine, self.id, path) as (chunks, _),
        ):
            for chunk in chunks:
                into.write(chunk)
        into.seek(0)

    def file(self, path: str, *, most: int) -> bytes:
        """Return a regular file's content, one link followed; empty where there is none."""
        found, stat = self._file(path, most)
        target = str(stat.get("linkTarget") or "")
        if found is None and target.startswith("/") and target != path:
            found, _ = self._file(target, most)
        return found or b""

    def plain_file(self, path: str, *, most: int) -> bytes | None:
        """Return a regular file's content; None for a link, or where there is none."""
        return self._file(path, most)[0]

    def _file(self, path: str, most: int) -> tuple[bytes | None, Mapping[str, Any]]:
        data = bytearray()
        with translated(f"read {path} of the image"):
            try:
                with archive_stream(self.engine, self.id, path) as (chunks, stat):
                    for chunk in chunks:
                        data += chunk
                        if len(data) > most + _HEADERS:
                            raise EngineError(f"{path} of the image: expected at most {most} bytes")
            except NotFound:
                return None, {}
        return only_file(bytes(data), most), stat


@contextmanager
def still_container(
    engine: Engine, image: str, *, name: str, labels: Mapping[str, str]
) -> Iterator[Still]:
    """Create a container of an image and remove it, with its volumes, at the end."""
    options = {
        "Image": image,
        "Entrypoint": [_NEVER],
        "Cmd": [],
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": dict(labels),
        "HostConfig": {"NetworkMode": "none", "CapDrop": ["ALL"]},
    }
    container = create_container(engine, name, options)
    try:
        yield Still(engine, container)
    finally:
        with translated("remove the container for copying"):
            engine.api.remove_container(container, force=True, v=True)


def only_file(archive: bytes, most: int) -> bytes | None:
    """Return the content of a tar's one regular file; None where it holds anything else."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
            member = opened.next()
            if member is None or not member.isreg() or member.size > most:
                return None
            content = opened.extractfile(member)
            return content.read() if content else None
    except (tarfile.TarError, ValueError, EOFError):
        return None


def tree_digest(archive: IO[bytes]) -> str:
    """Return a digest of everything in a tar but times and the order of its entries."""
    lines = []
    with tarfile.open(fileobj=archive) as opened:
        for member in opened:
            content = opened.extractfile(member) if member.isreg() else None
            digest = hashlib.sha256(content.read() if content else b"").hexdigest()
            kind = "directory" if member.isdir() else member.type.decode("latin-1")
            fields = (member.name.rstrip("/"), kind, member.mode & 0o7777, member.uid, member.gid)
            lines.append(repr((*fields, member.linkname, digest)))
    archive.seek(0)
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
