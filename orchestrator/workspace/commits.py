"""Commits made in a box, and their one way to the host: a checked bundle, into a branch apart.

The work tree, the index, HEAD and every branch of the person's own stay as they are.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import EngineError, UsageError, WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.bundle_header import read_header
from orchestrator.workspace.bundle_out import pack_commits
from orchestrator.workspace.commit_set import (
    BoxBranch,
    BoxCommits,
    judge_commits,
    judge_files,
    target_branch,
)
from orchestrator.workspace.git_names import is_git_name
from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.handover import check_ended, in_thread
from orchestrator.workspace.host_effects import effects_table
from orchestrator.workspace.host_git import GitFailed, HostRepository, open_repository
from orchestrator.workspace.judge import Rules
from orchestrator.workspace.node import ChangeSet
from orchestrator.workspace.quarantine import Quarantine, host_tips, open_quarantine, unpack
from orchestrator.workspace.record import locked
from orchestrator.workspace.workspace import Site, Workspace


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch did."""

    branches: tuple[BoxBranch, ...]
    """Now branches of the host's repository."""


async def read_commits(workspace: Workspace, changes: ChangeSet) -> BoxCommits:
    """Return the commits that wait in the box; what is wrong with them is ``trouble``.

    Costs nothing where ``changes`` shows no branch of the box that moved.
    """
    site = workspace.site
    session = SessionId(site.record.session)
    if "" not in changes.moved_repositories:
        return BoxCommits(session)

    def read() -> BoxCommits:
        with locked(site.folder, wait=True):
            try:
                return _read(site)
            except (WorkspaceError, EngineError) as err:
                return BoxCommits(session, trouble=err.message)

    return await in_thread(read, site)


async def fetch_commits(
    workspace: Workspace, shown: BoxCommits, names: Iterable[str], *, include_protected: bool
) -> Fetched:
    """Make branches of the host of what was shown, all of the named ones or none.

    Raises WorkspaceError while the box runs, where the commits are others by now, and where one
    touches a protected path without ``include_protected``.
    """
    chosen = choose_branches(shown, names)
    if not include_protected:
        check_unguarded(chosen)
    site = workspace.site

    def fetch() -> Fetched:
        with locked(site.folder):
            check_ended(site)
            return _fetch(site, shown, chosen)

    return await in_thread(fetch, site)


def choose_branches(shown: BoxCommits, names: Iterable[str]) -> tuple[BoxBranch, ...]:
    """Return the named branches, or all without a name; an error where there are none."""
    if shown.trouble:
        raise WorkspaceError(shown.trouble, hint="`glovebox apply` still applies the files")
    wanted = tuple(dict.fromkeys(names))
    known = {branch.name: branch for branch in shown.branches}
    for name in wanted:
        if name not in known:
            raise UsageError(
                f"branch {name!r}: the box has no new commits on it",
                hint=f"it has some on: {', '.join(known) or 'no branch'}",
            )
    if not known:
        raise WorkspaceError(
            f"session {shown.session}: it made no commits that this repository lacks"
        )
    return tuple(known[name] for name in wanted or known)


def check_unguarded(branches: Iterable[BoxBranch]) -> None:
    """Raise WorkspaceError where a branch touches paths that want an explicit yes."""
    guarded = [file for branch in branches for file in branch.guarded]
    if guarded:
        raise WorkspaceError(
            f"{len(guarded)} files in the commits want an explicit yes, nothing was fetched:\n"
            + "\n".join(f"  {file.path!r}: {file.protected}" for file in guarded[:20]),
            hint="look at them, then add --include-protected",
        )


def _read(site: Site) -> BoxCommits:
    record = site.record
    session = SessionId(record.session)
    repository = _repository(site)
    folder = _folder(site)
    digest = pack_commits(site, host_tips(repository), folder / "bundle")
    if not digest:
        return BoxCommits(session)
    quarantine = open_quarantine(folder / "repository.git", folder / "bundle", repository)
    rules = Rules(
        protected=path_globs(record.protected),
        hidden=path_globs(record.hidden),
        effects=effects_table(()),
        limits=site.limits,
    )
    try:
        branches = tuple(_branches(quarantine, rules, session))
    except (GitFailed, ValueError) as err:
        raise WorkspaceError(f"the box's commits cannot be read: {err}") from err
    finally:
        shutil.rmtree(folder / "repository.git", ignore_errors=True)
    return BoxCommits(session, branches, digest)


def _branches(quarantine: Quarantine, rules: Rules, session: SessionId) -> Iterable[BoxBranch]:
    for branch in quarantine.header.branches:
        ids = quarantine.commits(branch.tip)
        if not ids:
            continue
        raw = quarantine.read_files(ids)
        for one in raw:
            if any(is_git_name(part) for part in one.path.split("/")):
                raise WorkspaceError(
                    f"the commits from the box are refused: they hold {one.path!r}, which some "
                    "system takes for .git"
                )
        yield BoxBranch(
            branch.name,
            branch.tip,
            target_branch(session, branch.name),
            judge_commits(quarantine.read_commits(ids)),
            judge_files(raw, rules, quarantine.link_target),
        )


def _fetch(site: Site, shown: BoxCommits, chosen: tuple[BoxBranch, ...]) -> Fetched:
    bundle = _folder(site) / "bundle"
    with bundle.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != shown.digest:
            raise WorkspaceError(
                "the commits are others than those that were shown; nothing was fetched",
                hint="look again, then repeat the command",
            )
        file.seek(0)
        header = read_header(file)
        repository = _repository(site)
        olds = _olds(repository, chosen)
        unpack(repository.git, file, header)
    lines = [
        f"update refs/heads/{branch.target} {branch.tip} {olds[branch.target]}\n"
        for branch in chosen
    ]
    try:
        repository.git.output("update-ref", "--no-deref", "--stdin", feed="".join(lines).encode())
    except GitFailed as err:
        raise WorkspaceError(
            f"the branches cannot be made: {err.words}",
            hint="nothing of yours changed; remove what is in the way and repeat the command",
        ) from err
    bundle.unlink()
    return Fetched(chosen)


def _olds(repository: HostRepository, chosen: tuple[BoxBranch, ...]) -> dict[str, str]:
    """Return what the host's branches point to now, zeros where there is none yet."""
    form = "--format=%(refname:lstrip=2) %(objectname)"
    listed = repository.git.text("for-each-ref", form, "refs/heads/glovebox")
    found = dict(line.rsplit(" ", 1) for line in listed.splitlines())
    busy = repository.checked_out()
    for branch in chosen:
        if f"refs/heads/{branch.target}" in busy:
            raise WorkspaceError(
                f"branch {branch.target} is checked out, so it is left alone",
                hint="switch to another branch there, then repeat the command",
            )
    return {b.target: found.get(b.target, "0" * len(b.tip)) for b in chosen}


def _repository(site: Site) -> HostRepository:
    directory = Path(site.record.directory)
    repository = open_repository(directory)
    if repository is None:
        raise WorkspaceError(
            f"{directory} is no git repository, so it cannot take the box's commits",
            hint=f"run `git init {directory}` if you want them, then repeat the command",
        )
    return repository


def _folder(site: Site) -> Path:
    folder = site.folder / "commits"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
