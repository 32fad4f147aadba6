"""An in-memory workspace for the scripted box: enough of each file request for the loop's tests."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import accumulate
from typing import Any

from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import (
    EditRequest,
    FileRequest,
    FindRequest,
    GrepRequest,
    ListRequest,
    ReadRequest,
    WriteRequest,
)


class MemoryFiles:
    """Text files by absolute path; directories are implied, links do not exist."""

    def __init__(self, files: dict[str, str], *, root: str) -> None:
        """``root`` is the one directory that requests may reach."""
        self.files = {posixpath.normpath(path): text for path, text in files.items()}
        self._root = root

    def handle(self, request: FileRequest) -> Outcome:
        """Answer one request as the real box would."""
        path = posixpath.normpath(request.path)
        if path != self._root and not path.startswith(f"{self._root}/"):
            return Outcome(error=f"{path}: outside {self._root}", code="outside")
        if request.resolved is not None and request.resolved != path:
            return Outcome(error=f"{path}: lands elsewhere now", code="moved")
        if isinstance(request, WriteRequest):
            return self._write(path, request.content)
        if isinstance(request, ListRequest):
            return self._list(path, request.limit)
        if isinstance(request, FindRequest):
            return self._find(path, request)
        if isinstance(request, GrepRequest):
            return self._grep(path, request)
        if path not in self.files:
            return Outcome(error=f"{path}: no such file or directory", code="not_found")
        if isinstance(request, ReadRequest):
            return self._read(self.files[path], request)
        return self._edit(path, request)

    def _read(self, text: str, request: ReadRequest) -> Outcome:
        if not text:
            return Outcome(data={"type": "empty"})
        lines = text.splitlines()
        first = request.offset - 1
        if first >= len(lines):
            return Outcome(error=f"offset: the file has {len(lines)} lines", code="invalid")
        shown = _within(lines[first : first + request.limit], request.max_bytes)
        end = first + len(shown)
        return Outcome(
            data={
                "type": "text",
                "text": "\n".join(shown),
                "start": request.offset,
                "lines": len(shown),
                "total_lines": len(lines),
                "total_bytes": len(text.encode()),
                "next_offset": end + 1 if end < len(lines) else None,
                "cut_lines": [],
            }
        )

    def _write(self, path: str, content: str) -> Outcome:
        created = path not in self.files
        self.files[path] = content
        return Outcome(data={"bytes": len(content.encode()), "created": created, "diff": ""})

    def _edit(self, path: str, request: EditRequest) -> Outcome:
        text = original = self.files[path]
        lines: list[int] = []
        for edit in request.edits:
            count = original.count(edit.old)
            if count == 0:
                return Outcome(error=f"{path}: the old text was not found", code="no_match")
            if count > 1 and not request.replace_all:
                return Outcome(error=f"{path}: {count} matches, 1 expected", code="many_matches")
            lines.append(original[: original.index(edit.old)].count("\n") + 1)
            text = text.replace(edit.old, edit.new)
        self.files[path] = text
        return Outcome(data={"replacements": len(lines), "lines": lines, "diff": ""})

    def _list(self, path: str, limit: int) -> Outcome:
        entries: dict[str, dict[str, Any]] = {}
        for name, rest, text in self._below(path):
            if rest:
                entries[name] = {"name": name, "type": "directory", "size": 0}
            else:
                entries[name] = {"name": name, "type": "file", "size": len(text.encode())}
        if not entries and path != self._root:
            return Outcome(error=f"{path}: no such file or directory", code="not_found")
        found = [entries[name] for name in sorted(entries)]
        limited = len(found) > limit
        rows = found[:limit]
        return Outcome(data={"entries": rows, "total": len(found), "limited": limited, "notes": []})

    def _find(self, path: str, request: FindRequest) -> Outcome:
        below = (f"{name}/{rest}" if rest else name for name, rest, _ in self._below(path))
        found = sorted(p for p in below if fnmatchcase(posixpath.basename(p), request.pattern))
        limited = len(found) > request.limit
        paths = found[: request.limit]
        return Outcome(data={"paths": paths, "total": len(paths), "limited": limited, "notes": []})

    def _grep(self, path: str, request: GrepRequest) -> Outcome:
        pattern = re.escape(request.pattern) if request.literal else request.pattern
        wanted = re.compile(pattern, re.IGNORECASE if request.ignore_case else 0)
        found = [
            {"path": at, "line": number, "text": line, "cut": False, "context": False}
            for at, text in sorted(self.files.items())
            if at == path or at.startswith(f"{path}/")
            for number, line in enumerate(text.splitlines(), 1)
            if wanted.search(line)
        ]
        limited = len(found) > request.limit
        matches = found[: request.limit]
        return Outcome(
            data={"matches": matches, "total": len(matches), "limited": limited, "notes": []}
        )

    def _below(self, path: str) -> Iterator[tuple[str, str, str]]:
        for at, text in self.files.items():
            if at.startswith(f"{path}/"):
                name, _, rest = at.removeprefix(f"{path}/").partition("/")
                yield name, rest, text


def _within(lines: list[str], most: int) -> list[str]:
    """Return the first lines that have at most ``most`` bytes together, and at least one."""
    sizes = accumulate(len(line.encode()) + 1 for line in lines)
    return lines[: max(sum(size <= most for size in sizes), 1)]
