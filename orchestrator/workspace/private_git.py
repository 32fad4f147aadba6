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
        return _build(repository), ""
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


def _build(repository: HostRepository) -> PrivateGit:
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
    for name in _COPIED:
        found = git.directory / git.text("rev-parse", "--git-path", name)
        with suppress(FileNotFoundError):
            files[name] = found.read_bytes()
    return PrivateGit(files, repository.objects)


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
        told = repository.git.text("config", "--null", "--get-regexp", r"^remote\..*\.(url|fetch)$")
        for entry in filter(None, told.split("\0")):
            key, _, value = entry.partition("\n")
            name, _, word = key.removeprefix("remote.").rpartition(".")
            text += f'[remote "{_quoted(name)}"]\n\t{word} = "{_quoted(value)}"\n'
    masked = mask_credentials(".git/config", text)
    return masked.text if masked is not None else text


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
