"""Keeps contents that came out of a box, under their digest and under no name of the box."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestrator.workspace.contents import Digester

_IN_MEMORY = 1024 * 1024
"""A file up to this many bytes is written only once it is known to be wanted."""


@dataclass(frozen=True, slots=True)
class Spool:
    """A private directory of contents; what is there from an earlier reading is dropped."""

    directory: Path

    def clear(self) -> None:
        """Begin anew, empty."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in self.directory.iterdir():
            old.unlink()

    def take(self, chunks: Iterable[bytes], *, size: int, unwanted: str) -> Digester:
        """Digest the chunks, and keep them unless their digest is ``unwanted``."""
        digester = Digester()
        if size <= _IN_MEMORY:
            data = b"".join(chunks)
            digester.update(data)
            if digester.sha256 != unwanted:
                self.path(digester.sha256).write_bytes(data)
            return digester
        incoming = self.directory / "incoming"
        with incoming.open("wb") as file:
            for chunk in chunks:
                digester.update(chunk)
                file.write(chunk)
        if digester.sha256 == unwanted:
            incoming.unlink()
        else:
            incoming.replace(self.path(digester.sha256))
        return digester

    @staticmethod
    def digest(chunks: Iterable[bytes]) -> Digester:
        """Digest the chunks and keep nothing."""
        digester = Digester()
        for chunk in chunks:
            digester.update(chunk)
        return digester

    def sizes(self) -> dict[str, int]:
        """Return the bytes of every content that is kept, by digest."""
        if not self.directory.exists():
            return {}
        with os.scandir(self.directory) as entries:
            return {entry.name: entry.stat(follow_symlinks=False).st_size for entry in entries}

    def path(self, sha256: str) -> Path:
        """Return where a content is, or would be."""
        return self.directory / sha256

    def open(self, sha256: str) -> int:
        """Open a kept content for reading."""
        return os.open(self.path(sha256), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def holds(self, sha256: str) -> bool:
        """True where the content is kept here."""
        return bool(sha256) and self.path(sha256).exists()

    @contextmanager
    def opened(self, sha256: str) -> Iterator[int]:
        """Open a kept content for reading, as a context."""
        fd = self.open(sha256)
        try:
            yield fd
        finally:
            os.close(fd)
