"""File contents of snapshots, each kept once under its digest, in the session's own folder.

Contents are written first and announced later: until ``sync`` returns nothing may name them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.beneath import sync_file_system
from orchestrator.workspace.contents import Digester, read_chunks
from orchestrator.workspace.snapshots_bytes import at_most, clone, write_all

_WORTH_CLONING = 64 * 1024
"""Bytes below which copying is as quick."""
_IN_MEMORY = 1024 * 1024
_FEW = 8
"""Contents up to which each is synced alone; beyond that the whole file system is, once."""
_INCOMING = "incoming"
_NEW = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True)
class Contents:
    """A folder of contents; one process uses it at a time, under the session's lock."""

    folder: Path
    _new: list[str] = field(default_factory=list)
    _bytes: int = -1

    def has(self, sha256: str) -> bool:
        """Say whether a content is kept."""
        return bool(sha256) and self._path(sha256).exists()

    def keep(self, chunks: Iterable[bytes], *, size: int, unwanted: str = "") -> Digester:
        """Keep what the chunks hold, about ``size`` bytes, and return its digest.

        A content whose digest is ``unwanted`` is not kept.
        """
        if size <= _IN_MEMORY:
            data = b"".join(chunks)
            digester = Digester()
            digester.update(data)
            if digester.sha256 != unwanted and not self.has(digester.sha256):
                self._write(digester.sha256, data)
            return digester
        fd = self._incoming()
        try:
            return self._keep_large(fd, chunks, unwanted)
        finally:
            os.close(fd)

    def keep_file(self, source: int, *, size: int) -> Digester:
        """Keep an open file's content, by sharing its blocks where the file system can."""
        if size < _WORTH_CLONING:
            return self.keep(at_most(size, source), size=size)
        fd = self._incoming()
        try:
            if not clone(source, fd):
                return self._keep_large(fd, at_most(size, source))
            digester = Digester()
            for data in read_chunks(fd):
                digester.update(data)
            self._name_incoming(digester.sha256)
            return digester
        finally:
            os.close(fd)

    def open(self, sha256: str) -> int:
        """Open a kept content for reading; WorkspaceError where it is gone."""
        try:
            return os.open(self._path(sha256), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as err:
            raise WorkspaceError(
                f"{self._path(sha256)}: a snapshot's content cannot be read: {err.strerror}",
                hint="choose another snapshot: glovebox rewind --list",
            ) from err

    def sync(self) -> None:
        """Return when everything kept so far is on the disk."""
        if not self._new:
            return
        for sha256 in self._new[:_FEW] if len(self._new) <= _FEW else ():
            fd = os.open(self._path(sha256), os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
        fd = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if len(self._new) > _FEW:
                sync_file_system(fd)
            else:
                os.fsync(fd)
        finally:
            os.close(fd)
        self._new.clear()

    @property
    def used_bytes(self) -> int:
        """How much all contents hold."""
        if self._bytes < 0:
            self._bytes = sum(self.sizes().values())
        return self._bytes

    def sizes(self) -> dict[str, int]:
        """Return the bytes of every content by digest."""
        if not self.folder.exists():
            return {}
        with os.scandir(self.folder) as entries:
            return {entry.name: entry.stat().st_size for entry in entries}

    def drop_all_but(self, wanted: Iterable[str]) -> None:
        """Remove the contents that no snapshot names, and what a kill left half written."""
        kept = set(wanted)
        for name in self.sizes():
            if name not in kept:
                (self.folder / name).unlink(missing_ok=True)
        self._bytes = -1

    def _keep_large(self, fd: int, chunks: Iterable[bytes], unwanted: str = "") -> Digester:
        digester = Digester()
        for data in chunks:
            digester.update(data)
            write_all(fd, data)
        if digester.sha256 == unwanted:
            (self.folder / _INCOMING).unlink()
        else:
            self._name_incoming(digester.sha256)
        return digester

    def _write(self, sha256: str, data: bytes) -> None:
        fd = self._incoming()
        try:
            write_all(fd, data)
        finally:
            os.close(fd)
        self._name_incoming(sha256)

    def _incoming(self) -> int:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(self.folder / _INCOMING, _NEW, 0o600)

    def _name_incoming(self, sha256: str) -> None:
        incoming = self.folder / _INCOMING
        if self.has(sha256):
            incoming.unlink()
        else:
            if self._bytes >= 0:
                self._bytes += incoming.stat().st_size
            incoming.replace(self._path(sha256))
            self._new.append(sha256)

    def _path(self, sha256: str) -> Path:
        return self.folder / sha256
