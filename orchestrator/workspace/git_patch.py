"""Changes as a patch that ``git apply`` takes: names quoted, git's two modes, binary contents.

Contents are streamed, so that the size of a file does not matter.
"""

from __future__ import annotations

import base64
import hashlib
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from orchestrator.workspace.contents import read_chunks
from orchestrator.workspace.diff_text import hunk_lines
from orchestrator.workspace.line_diff import find_hunks, split_lines
from orchestrator.workspace.node import PERMISSIONS, Change, Node
from orchestrator.workspace.patch import PatchReader

_Open = Callable[[], AbstractContextManager[int]]
"""Opens one side of a change for reading."""

_LINE = 52
"""Bytes of compressed content a line; its length is one letter."""
_LETTERS = _LINE * 5 // 4
_MANY = 256 * _LINE
"""Encoding takes some fifty times its input for a moment."""
_NO_BLOB = "0" * 40
_PLAIN = frozenset(range(0x20, 0x7F)) - {ord('"'), ord("\\")}
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def patch_chunks(reader: PatchReader, changes: Iterable[Change]) -> Iterator[bytes]:
    """Yield the patch of the changes; what ``unsayable`` names is left out."""
    given = sorted(changes, key=lambda change: change.path)
    left = {change.path: change.old for change in given if change.renamed_to}
    for change in given:
        if not change.renamed_to and not _is_directory(change):
            for one in _as_git_has_it(change):
                moved = left.get(one.renamed_from)
                yield from _GitPatch(reader, one, moved).chunks()


def unsayable(changes: Iterable[Change]) -> Iterator[str]:
    """Yield what a patch of git cannot hold, one line each, raw."""
    for change in changes:
        new = change.new
        if new is not None and new.type == "directory" and change.kind == "added":
            yield f"{change.path}: a patch holds no empty directory"
        elif new is not None and new.type == "file":
            mode = new.mode & PERMISSIONS
            known = {0o644, 0o755} | ({change.old.mode & PERMISSIONS} if change.old else set())
            if mode not in known:
                yield f"{change.path}: a patch holds no mode {mode:04o}, only executable or not"


def quoted(name: str) -> bytes:
    """Return a name as git writes it: in quotes where it has a character that needs them."""
    raw = os.fsencode(name)
    if all(byte in _PLAIN for byte in raw):
        return raw
    text = "".join(
        f"\\{_ESCAPES[byte]}"
        if byte in _ESCAPES
        else chr(byte)
        if byte in _PLAIN
        else f"\\{byte:03o}"
        for byte in raw
    )
    return f'"{text}"'.encode("ascii")


def git_mode(node: Node) -> str:
    """Return the mode as git knows it."""
    if node.type == "symlink":
        return "120000"
    return "100755" if node.mode & stat.S_IXUSR else "100644"


def _is_directory(change: Change) -> bool:
    """True where only directories come or go: git has none."""
    return all(n.type == "directory" for n in (change.old, change.new) if n is not None)


def _as_git_has_it(change: Change) -> list[Change]:
    """A change of type is a deletion and an addition; of directories there is nothing."""
    if change.kind != "type":
        return [change]
    halves = [
        replace(change, kind="deleted", new=None, box=None),
        replace(change, kind="added", old=None),
    ]
    return [half for half in halves if not _is_directory(half)]


@dataclass(frozen=True, slots=True)
class _GitPatch:
    reader: PatchReader
    change: Change
    moved: Node | None
    """What stood at the old name of a rename."""

    def chunks(self) -> Iterator[bytes]:
        change = self.change
        before = change.renamed_from or change.path
        a, b = quoted(f"a/{before}"), quoted(f"b/{change.path}")
        yield b"diff --git %s %s\n" % (a, b)
        yield from self._modes()
        if change.renamed_from:
            yield b"similarity index 100%%\nrename from %s\nrename to %s\n" % (
                quoted(before),
                quoted(change.path),
            )
            return
        if change.kind == "mode":
            return
        texts = self.reader.texts(change)
        if texts.why_not:
            yield from self._binary()
            return
        old, new = split_lines(texts.old), split_lines(texts.new)
        hunks = find_hunks(old, new)
        if hunks:
            yield b"--- %s\n" % (_ended(a) if change.old is not None else b"/dev/null")
            yield b"+++ %s\n" % (_ended(b) if change.new is not None else b"/dev/null")
        for hunk in hunks:
            for line in hunk_lines(hunk, old, new):
                yield line.encode("utf-8", "surrogateescape") + b"\n"

    def _modes(self) -> Iterator[bytes]:
        old, new = self.change.old or self.moved, self.change.new
        if old is None and new is not None:
            yield f"new file mode {git_mode(new)}\n".encode()
        elif new is None and old is not None:
            yield f"deleted file mode {git_mode(old)}\n".encode()
        elif old is not None and new is not None and git_mode(old) != git_mode(new):
            yield f"old mode {git_mode(old)}\nnew mode {git_mode(new)}\n".encode()

    def _binary(self) -> Iterator[bytes]:
        old = self._blob_id(self._old) if self.change.old is not None else _NO_BLOB
        new = self._blob_id(self._new) if self.change.new is not None else _NO_BLOB
        yield f"index {old}..{new}\nGIT binary patch\n".encode()
        size = self.change.new.size if self.change.new is not None else 0
        yield f"literal {size}\n".encode()
        if self.change.new is None:
            yield from _literal(())
        else:
            with self._new() as fd:
                yield from _literal(read_chunks(fd))
        yield b"\n"

    def _blob_id(self, opened: _Open) -> str:
        with opened() as fd:
            digest = hashlib.sha1(b"blob %d\0" % os.fstat(fd).st_size, usedforsecurity=False)
            for data in read_chunks(fd):
                digest.update(data)
        return digest.hexdigest()

    def _old(self) -> AbstractContextManager[int]:
        return self.reader.host.file(self.change.path)

    def _new(self) -> AbstractContextManager[int]:
        return self.reader.content(self.change)


def _ended(name: bytes) -> bytes:
    """A name with a space ends with a tab, or patch tools would look for a date after it."""
    return name + b"\t" if b" " in name and not name.startswith(b'"') else name


def _literal(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield content compressed and in letters, a line each."""
    packer = zlib.compressobj()
    waiting = b""
    for chunk in chunks:
        waiting += packer.compress(chunk)
        whole = len(waiting) - len(waiting) % _LINE
        for start in range(0, whole, _MANY):
            # One call for many lines: their lengths are whole numbers of its words.
            letters = base64.b85encode(waiting[start : min(start + _MANY, whole)])
            for at in range(0, len(letters), _LETTERS):
                yield b"z%s\n" % letters[at : at + _LETTERS]
        waiting = waiting[whole:]
    waiting += packer.flush()
    for start in range(0, len(waiting), _LINE):
        yield _letters(waiting[start : start + _LINE])


def _letters(data: bytes) -> bytes:
    size = len(data)
    length = chr(ord("A") + size - 1) if size <= 26 else chr(ord("a") + size - 27)
    padded = data + b"\0" * (-size % 4)
    return length.encode() + base64.b85encode(padded) + b"\n"
