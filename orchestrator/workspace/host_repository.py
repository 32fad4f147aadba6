"""The repository whose work tree the host's directory is, as the host's own git finds it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.named_file import read_named
from orchestrator.workspace.host_git import GitFailed, HostGit

_MAX_BYTES = 64 * 1024 * 1024
"""Of a file of a repository that is read here: a million and a half cut histories."""
_HERE = "/proc/self/cwd/"
"""The directory that git was started in, for an owner who cannot pass the directories above it."""


@dataclass(frozen=True, slots=True)
class HostRepository:
    """The repository that the host's directory is the work tree of."""

    git: HostGit
    common: Path
    """What all of its work trees share."""
    objects: str
    """Its object directory, absolute."""
    form: str
    """``sha1`` or ``sha256``."""
    shallow: bytes
    """Content of its list of cut histories; empty in a whole clone."""

    def checked_out(self) -> set[str]:
        """Return the full names of the branches that some work tree is on."""
        heads = [self.common / "HEAD", *self.common.glob("worktrees/*/HEAD")]
        texts = [_read(head).decode("utf-8", "surrogateescape").strip() for head in heads]
        return {text.removeprefix("ref: ") for text in texts if text.startswith("ref: ")}


def open_repository(directory: Path) -> HostRepository | None:
    """Return the repository whose work tree begins at ``directory``; None where there is none.

    A directory inside a work tree is none: the box sees no repository there either.
    """
    if not os.path.lexists(directory / ".git"):
        return None
    info = directory.stat()
    owner = (info.st_uid, info.st_gid) if os.geteuid() == 0 and info.st_uid != 0 else None
    git = HostGit(f"{_HERE}.git" if owner else ".git", directory, owner)
    paths = ("--git-common-dir", "--git-path", "objects", "--git-path", "shallow")
    try:
        told = git.text("rev-parse", *paths, "--show-object-format").split("\n")
        common, objects, shallow = (directory / path.removeprefix(_HERE) for path in told[:3])
        (form,) = told[3:]
    except GitFailed as err:
        if "not found" in err.words:
            raise WorkspaceError(
                "git is not installed on this machine, so commits cannot be looked at",
                hint="install git 2.31 or newer",
            ) from err
        who = f", run as the owner (uid {owner[0]})," if owner else ""
        raise WorkspaceError(
            f"{directory}: git{who} cannot use its repository: {err.words}"
        ) from err
    except ValueError as err:
        raise WorkspaceError(f"{directory}: the paths in its repository hold line feeds") from err
    cut = _read(shallow) if os.path.lexists(shallow) else b""
    return HostRepository(git, common, str(objects), form, cut)


def _read(path: Path) -> bytes:
    """Return a file of a repository, which may be a stranger's: nothing waits for what is no file."""
    try:
        data = read_named(path, limit=_MAX_BYTES)
    except OSError as err:
        raise WorkspaceError(
            f"{path}: cannot be read: {err.strerror}", hint="git fsck tells what is wrong with it"
        ) from err
    if len(data) > _MAX_BYTES:
        raise WorkspaceError(f"{path}: expected at most {_MAX_BYTES} bytes, got more")
    return data
