"""The box's file operations on a temporary directory, called as the tool server calls them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

TOOLSERVER = Path(__file__).resolve().parents[2] / "sandbox-image" / "toolserver"

# The server runs from its own folder; its modules are no package.
if str(TOOLSERVER) not in sys.path:
    sys.path.insert(0, str(TOOLSERVER))

import files  # noqa: E402 - found through the line above
from paths import Roots  # noqa: E402 - the same


class BoxedFiles:
    """A workspace, a directory beside it that is out of bounds, and a read-only root."""

    def __init__(self, folder: Path) -> None:
        real = folder.resolve()
        self.workdir = real / "ws"
        self.outside = real / "outside"
        self.library = real / "library"
        for place in (self.workdir, self.outside, self.library):
            place.mkdir()
        work, library = str(self.workdir), str(self.library)
        self.roots = Roots(work, (work,), (work, library))

    def put(self, name: str, content: bytes | str) -> Path:
        """Make a file in the workspace, with the directories above it."""
        path = self.workdir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def serve(self, kind: str, path: str | Path = ".", **fields: Any) -> dict[str, Any]:
        """Return the raw answer to a request."""
        return files.serve({"kind": kind, "path": str(path), **fields}, self.roots)

    def data(self, kind: str, path: str | Path = ".", **fields: Any) -> dict[str, Any]:
        """Return the data of a request that must succeed."""
        answer = self.serve(kind, path, **fields)
        assert "error" not in answer, answer
        return answer["data"]

    def refusal(self, kind: str, path: str | Path = ".", **fields: Any) -> tuple[str, str]:
        """Return code and message of a request that must be refused."""
        answer = self.serve(kind, path, **fields)
        assert "error" in answer, answer
        return answer["code"], answer["error"]

    def edit(self, path: str | Path, *pairs: tuple[str, str], **fields: Any) -> dict[str, Any]:
        """Return the data of an edit that must succeed."""
        return self.data("edit", path, edits=replacements(pairs), **fields)

    def refused_edit(
        self, path: str | Path, *pairs: tuple[str, str], **fields: Any
    ) -> tuple[str, str]:
        """Return code and message of an edit that must be refused."""
        return self.refusal("edit", path, edits=replacements(pairs), **fields)


def replacements(pairs: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    """Return edits in the form of a request."""
    return [{"old": old, "new": new} for old, new in pairs]


def names_in(folder: Path) -> list[str]:
    """Return the names in a directory, sorted."""
    return sorted(path.name for path in folder.iterdir())
