"""A session file to look at while another process may write it: no lease, nothing mended."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from orchestrator.errors import SessionError
from orchestrator.schema.ids import EntryId
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.lease import Holder, live_holder
from orchestrator.sessions.opened import opened_session
from orchestrator.sessions.reading import read_content
from orchestrator.sessions.tree import EntryTree


@dataclass(slots=True)
class SessionView:
    """What a file held when it was read; ``refresh`` reads what came since."""

    path: Path
    header: SessionHeader
    tree: EntryTree
    warnings: list[str] = field(default_factory=list)
    """What cannot be read of it, one line each, raw."""
    offset: int = 0
    """Bytes that were read."""
    inode: int = 0

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read a session; SessionError for a file that is none, or of a newer format."""
        data, inode = _bytes_from(path, 0)
        content = read_content(data, name=path.name)
        tree = EntryTree(content.entries)
        return cls(path, content.header, tree, content.warnings, content.good_size, inode)

    @property
    def holder(self) -> Holder | None:
        """The process that has the session open; None where none is known to."""
        return live_holder(self.path)

    def refresh(self) -> int:
        """Take what was written since, whole lines only; return how many entries that were."""
        before = self.tree.by_id
        data, inode = _bytes_from(self.path, self.offset)
        if inode != self.inode:
            # Another file took its place, as a change of format does: offsets mean nothing in it.
            fresh = SessionView.open(self.path)
            self.header, self.tree, self.warnings = fresh.header, fresh.tree, fresh.warnings
            self.offset, self.inode = fresh.offset, fresh.inode
            return len(self.tree.by_id.keys() - before.keys())
        whole = data[: data.rfind(b"\n") + 1]
        content = read_content(whole, name=self.path.name, before=before or _NOTHING_YET)
        self.offset += len(whole)
        self.warnings += content.warnings
        for entry in content.entries:
            self.tree.add(entry)
        return len(content.entries)


_NOTHING_YET = (EntryId(""),)
"""No entry has this id; it says that the file had begun."""


def _bytes_from(path: Path, offset: int) -> tuple[bytes, int]:
    """Return the bytes from an offset on, and which file they are of."""
    try:
        with opened_session(path) as file:
            file.seek(offset)
            return file.read(), os.fstat(file.fileno()).st_ino
    except OSError as err:
        raise SessionError(f"{path}: the session cannot be read: {err.strerror}") from err
