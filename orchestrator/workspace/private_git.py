"""A repository of the box's own where the directory's ``.git`` is a file that points elsewhere.

Linked work trees and submodules keep their repository outside the directory, where no box may
write. The box gets a private one: the same HEAD, branches, remotes and index, and the host's
objects to read. What it commits comes out as from any box.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.schema.mount import Mount
from orchestrator.workspace.credentials import mask_credentials
from orchestrator.workspace.host_git import GitFailed, HostGit
from orchestrator.workspace.host_repository import HostRepository, open_repository
from orchestrator.workspace.record import WorkspaceRecord
from orchestrator.workspace.tree import Tree

OBJECTS = "/git/objects"
"""Where the host's objects are in a box, to be read."""

_MOST_POINTER = 8192
_DIRECTORIES = ("objects/info", "objects/pack", "refs/heads", "refs/tags")
_COPIED = ("index", "info/exclude", "shallow")


@dataclass(frozen=True, slots=True)
class PrivateGit:
    """What stands in place of the file."""

    files: Mapping[str, bytes]
    """By path below ``.git``."""
    objects: str
    """The host's object directory, absolute."""


def find_private_git(tree: Tree, directory: Path) -> tuple[PrivateGit | None, str]:
    """Return a private repository where one is needed, and a notice where it cannot be had."""
    info = tree.lstat(".git")
    if info is None or not stat.S_ISREG(info.st_mode):
        return None, ""
    try:
        repository = open_repository(directory)
        if repository is None:
            return None, ""
        return _build(repository, _elsewhere(tree, repository, directory)), ""
    except (WorkspaceError, GitFailed, OSError) as err:
        why = err.message if isinstance(err, WorkspaceError) else str(err)
        return None, f"git does not work in the box: the directory's repository is elsewhere, {why}"


def lay_private_git(target: Path, private: PrivateGit, owner: tuple[int, int]) -> None:
    """Write the repository into a new directory; as root, one of the box's user."""
    for name in _DIRECTORIES:
        (target / name).mkdir(parents=True)
    for name, content in private.files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(content)
    if os.geteuid() == 0:
        for path in (target, *target.rglob("*")):
            os.chown(path, *owner, follow_symlinks=False)


def objects_mount(record: WorkspaceRecord) -> tuple[Mount, ...]:
    """Return what a container needs beside the workspace, to read the host's objects."""
    if not record.git_objects:
        return ()
    return (Mount("bind", record.git_objects, OBJECTS, read_only=True),)


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """Where the repository is, without a link on the way to anything of it."""

    own: Path
    """What belongs to this work tree alone."""
    common: Path


def _elsewhere(tree: Tree, repository: HostRepository, directory: Path) -> _Elsewhere:
    """Return the directories that the ``.git`` file means; WorkspaceError where it may not.

    Whoever wrote the file could name any repository of the host, so that one must name this
    directory too, and all that the box is given must lie where git itself puts it.
    """
    with tree.file(".git") as fd:
        words = os.fsdecode(os.read(fd, _MOST_POINTER)).partition("gitdir:")[2].strip()
    own = _real(directory / words)
    top = _real(directory)
    if own.is_relative_to(top):
        raise WorkspaceError(f"{own}: it lies in the directory itself")
    common = own.parent.parent if own.parent.name == "worktrees" else own
    if common != own:
        back = _real(own / os.fsdecode(_content(own / "gitdir") or b"").strip()).parent
    else:
        told = ""
        with suppress(GitFailed):
            told = repository.git.text("config", "--no-includes", "--get", "core.worktree")
        back = _real(own / told)
    objects = common / "objects"
    if back != top or _real(repository.common) != common or _real(objects) != objects:
        raise WorkspaceError(
            f"{own}: it does not say that its work tree is {top}",
            hint="git worktree repair mends the link of a work tree that was moved",
        )
    return _Elsewhere(own, common)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _content(path: Path) -> bytes | None:
    """Return a file's content, None where there is none; WorkspaceError for anything but a file."""
    if _real(path) != path:
        raise WorkspaceError(f"{path}: it is a link")
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise WorkspaceError(f"{path}: it is no file")
        return file.read()


def _build(repository: HostRepository, place: _Elsewhere) -> PrivateGit:
    git = repository.git
    refs = git.text(
        "for-each-ref",
        "--format=%(objectname) %(refname)",
        *("refs/heads", "refs/remotes", "refs/tags"),
    )
    files = {
        "HEAD": f"{_head(git)}\n".encode(),
        "packed-refs": f"{refs}\n".encode() if refs else b"",
        "config": _config(repository).encode(),
        "objects/info/alternates": f"{OBJECTS}\n".encode(),
    }
    wanted = (place.own / "index", place.common / "info/exclude", place.common / "shallow")
    for name, path in zip(_COPIED, wanted, strict=True):
        if (content := _content(path)) is not None:
            files[name] = content
    return PrivateGit(files, str(place.common / "objects"))


def _head(git: HostGit) -> str:
    try:
        return f"ref: {git.text('symbolic-ref', '-q', 'HEAD')}"
    except GitFailed:
        return git.text("rev-parse", "HEAD")


def _config(repository: HostRepository) -> str:
    version = 1 if repository.form == "sha256" else 0
    text = f"[core]\n\trepositoryformatversion = {version}\n\tbare = false\n\tfilemode = true\n"
    if version:
        text += "[extensions]\n\tobjectformat = sha256\n"
    with suppress(GitFailed):
        # Names and addresses of remotes alone; without credentials, as in any box.
        told = repository.git.text(
            "config", "--no-includes", "--null", "--get-regexp", r"^remote\..*\.(url|fetch)$"
        )
        for entry in filter(None, told.split("\0")):
            key, _, value = entry.partition("\n")
            name, _, word = key.removeprefix("remote.").rpartition(".")
            text += f'[remote "{_quoted(name)}"]\n\t{word} = "{_quoted(value)}"\n'
    masked = mask_credentials(".git/config", text)
    return masked.text if masked is not None else text


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
