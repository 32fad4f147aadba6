"""Puts changes on a new branch of the host's repository; work tree, index and HEAD stay.

What the branch gets is the box's work on top of the last commit. Where the person has edits of
their own in the same file, only the box's lines go onto the branch, as in a merge.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import UsageError, WorkspaceError
from orchestrator.workspace.bases import MOST_BYTES
from orchestrator.workspace.contents import read_chunks
from orchestrator.workspace.derived import box_text, host_text
from orchestrator.workspace.git_patch import git_mode, quoted
from orchestrator.workspace.host_git import GitFailed, HostGit
from orchestrator.workspace.host_repository import HostRepository, open_repository
from orchestrator.workspace.merge3 import merge_texts
from orchestrator.workspace.node import Change
from orchestrator.workspace.patch import PatchReader, open_patch
from orchestrator.workspace.workspace import Workspace

_HASHES = {"sha1": hashlib.sha1, "sha256": hashlib.sha256}
"""Object formats of git, with how they name a blob."""


@dataclass(frozen=True, slots=True)
class NewCommit:
    """What to make of the changes."""

    branch: str
    message: str
    name: str
    """Of the person, as author and as committer."""
    email: str


def commit_on_branch(workspace: Workspace, changes: Iterable[Change], commit: NewCommit) -> str:
    """Commit the changes onto a new branch and return the commit; nothing is made on an error.

    Raises UsageError for a name that git does not take or has, WorkspaceError where the person's
    own uncommitted edits overlap with the box's, and where no repository begins here.
    """
    repository = require_repository(workspace)
    try:
        return _commit(workspace, repository, changes, commit)
    except GitFailed as err:
        raise WorkspaceError(
            f"{workspace.site.record.directory}: no branch was made: {err}",
            hint="see whether `git status` works there",
        ) from err


def require_repository(workspace: Workspace) -> HostRepository:
    """Return the repository of a session's directory, which no box can have written."""
    record = workspace.site.record
    if record.mode not in {"overlay", "copy"}:
        raise WorkspaceError(
            f"{record.directory}: in workspace mode {record.mode} git is never run on the host, "
            "because the box writes to the directory itself",
            hint="use git yourself, after a look at what changed",
        )
    repository = open_repository(Path(record.directory))
    if repository is None:
        raise WorkspaceError(
            f"{record.directory}: no git repository begins here, so there is nothing to branch",
            hint="write a patch instead: --patch FILE",
        )
    return repository


def _commit(
    workspace: Workspace, repository: HostRepository, changes: Iterable[Change], commit: NewCommit
) -> str:
    git = repository.git
    reference = _free_reference(git, commit.branch)
    head = _head(git, repository.form)
    # Made under a name nobody looks at, so that a half-done one is never a branch.
    temporary = f"refs/glovebox/{secrets.token_hex(8)}"
    with open_patch(workspace) as reader, tempfile.TemporaryFile() as source:
        entries = _Entries(git, head, reader).of(changes)
        if not entries:
            raise WorkspaceError("nothing that git could take: no file is added, changed or gone")
        source.writelines(_stream(reader, entries, _commit_lines(head, temporary, commit)))
        source.seek(0)
        try:
            git.read_from(source, "fast-import", "--quiet", "--done", "--date-format=now")
            made = git.text("rev-parse", "--verify", f"{temporary}^{{commit}}")
            git.text("update-ref", reference, made, "0" * len(made))
        finally:
            git.text("update-ref", "-d", temporary)
    return made


def _free_reference(git: HostGit, name: str) -> str:
    reference = f"refs/heads/{name}"
    if name.startswith("-") or not _says_yes(git, "check-ref-format", reference):
        raise UsageError(f"--branch {name!r}: git takes no such name for a branch")
    if _says_yes(git, "show-ref", "--verify", "--quiet", reference):
        raise UsageError(f"--branch {name!r}: there is one already", hint="choose another name")
    return reference


def _says_yes(git: HostGit, *arguments: str) -> bool:
    try:
        git.text(*arguments)
    except GitFailed:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Head:
    """The last commit, empty where there is none yet, and the blobs in it by path."""

    commit: str
    blobs: dict[str, str]
    object_format: str


def _head(git: HostGit, form: str) -> _Head:
    if not _says_yes(git, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"):
        return _Head("", {}, form)
    commit = git.text("rev-parse", "--verify", "HEAD^{commit}")
    blobs: dict[str, str] = {}
    for line in git.text("ls-tree", "-r", "-z", "--full-tree", commit).split("\0"):
        facts, _, path = line.partition("\t")
        if path:
            blobs[path] = facts.split(" ")[2]
    return _Head(commit, blobs, form)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of the commit: a content at a path, or the path gone where there is no mode."""

    path: str
    mode: str = ""
    data: bytes | None = None
    """The content itself, None where it is the change's."""
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class _Entries:
    git: HostGit
    head: _Head
    reader: PatchReader

    def of(self, changes: Iterable[Change]) -> list[_Entry]:
        """Return the commit's lines; WorkspaceError names what cannot be told apart."""
        found: list[_Entry] = []
        mixed: list[str] = []
        for change in changes:
            entry = self._entry(change)
            if entry is None:
                mixed.append(change.path)
            elif entry.mode or entry.path in self.head.blobs:
                found.append(entry)
        if mixed:
            raise WorkspaceError(
                f"{len(mixed)} files hold uncommitted edits of yours where the box changed the "
                "same, so a branch from the last commit cannot have the one without the other: "
                + ", ".join(map(repr, sorted(mixed)[:20])),
                hint="commit your edits first, or leave these files out with --path",
            )
        return found

    def _entry(self, change: Change) -> _Entry | None:
        path = change.path
        new = change.new
        if new is None or new.type == "directory":
            return _Entry(path)
        if new.type == "symlink":
            return _Entry(path, git_mode(new), os.fsencode(new.target))
        of_head = self.head.blobs.get(path)
        edited = of_head is not None and change.old is not None and change.old.type == "file"
        if not edited or of_head is None or of_head == self._host_blob(change):
            return _Entry(path, git_mode(new), change=change)
        data = self._without_own_edits(change, of_head)
        return None if data is None else _Entry(path, git_mode(new), data)

    def _without_own_edits(self, change: Change, of_head: str) -> bytes | None:
        """Return the last commit's text with the box's lines alone; None where they overlap."""
        committed = None
        if int(self.git.text("cat-file", "-s", of_head)) <= MOST_BYTES:
            committed = self.git.output("cat-file", "blob", of_head)
        mine = host_text(self.reader.host, change.path, change.seen)
        box = mine if change.kind == "mode" else box_text(self.reader.content, change)
        if committed is None or mine is None or box is None or b"\0" in committed:
            return None
        merged = merge_texts(mine, committed, box)
        return None if merged.overlaps else merged.data

    def _host_blob(self, change: Change) -> str:
        with self.reader.host.file(change.path) as fd:
            digest = _HASHES[self.head.object_format](usedforsecurity=False)
            digest.update(b"blob %d\0" % os.fstat(fd).st_size)
            for data in read_chunks(fd):
                digest.update(data)
        return digest.hexdigest()


def _commit_lines(head: _Head, reference: str, commit: NewCommit) -> bytes:
    text = commit.message.encode("utf-8", "surrogateescape")
    who = f"{_plain(commit.name)} <{_plain(commit.email)}> now".encode()
    lines = b"commit %s\nauthor %s\ncommitter %s\n" % (reference.encode(), who, who)
    lines += b"data %d\n%s\n" % (len(text), text)
    return lines + (f"from {head.commit}\n".encode() if head.commit else b"")


def _plain(text: str) -> str:
    """Return a name as a commit can hold it."""
    return "".join(char for char in text if char not in "<>\n\0").strip()


def _stream(reader: PatchReader, entries: list[_Entry], commit: bytes) -> Iterator[bytes]:
    """Yield what fast-import reads: all contents first, so that a broken one makes no commit."""
    for mark, entry in enumerate(entries, 1):
        if entry.mode:
            yield b"blob\nmark :%d\n" % mark
            yield from _content(reader, entry)
    yield commit
    # Removals first: a file may take the place of a directory.
    yield from (b"D %s\n" % quoted(entry.path) for entry in entries if not entry.mode)
    for mark, entry in enumerate(entries, 1):
        if entry.mode:
            yield b"M %s :%d %s\n" % (entry.mode.encode(), mark, quoted(entry.path))
    yield b"done\n"


def _content(reader: PatchReader, entry: _Entry) -> Iterator[bytes]:
    change = entry.change
    if change is None or change.new is None:
        data = entry.data or b""
        yield b"data %d\n%s\n" % (len(data), data)
        return
    opened = reader.host.file(change.path) if change.kind == "mode" else reader.content(change)
    digest = hashlib.sha256()
    with opened as fd:
        size = os.fstat(fd).st_size
        yield b"data %d\n" % size
        for chunk in read_chunks(fd):
            digest.update(chunk)
            yield chunk
    if change.kind != "mode" and digest.hexdigest() != change.new.sha256:
        raise WorkspaceError(
            f"{change.path!r}: its content in the box changed after it was looked at",
            hint="end whatever still runs in the box, and look again with `glovebox diff`",
        )
    yield b"\n"
