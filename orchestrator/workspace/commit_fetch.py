"""Makes branches of the host of what a box committed, once a person has seen it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.bundle_header import read_header
from orchestrator.workspace.commit_choice import check_unguarded, choose_branches
from orchestrator.workspace.commit_set import BoxBranch, BoxCommits
from orchestrator.workspace.commits import commit_folder, host_repository
from orchestrator.workspace.handover import check_ended, in_thread
from orchestrator.workspace.host_git import GitFailed
from orchestrator.workspace.host_repository import HostRepository
from orchestrator.workspace.quarantine import unpack
from orchestrator.workspace.record import locked
from orchestrator.workspace.workspace import Site, Workspace


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch did."""

    branches: tuple[BoxBranch, ...]
    """Now branches of the host's repository."""


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


def _fetch(site: Site, shown: BoxCommits, chosen: tuple[BoxBranch, ...]) -> Fetched:
    bundle = commit_folder(site) / "bundle"
    with bundle.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != shown.digest:
            raise WorkspaceError(
                "the commits are others than those that were shown; nothing was fetched",
                hint="look again, then repeat the command",
            )
        file.seek(0)
        header = read_header(file)
        repository = host_repository(site)
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
    folded = {name.casefold(): name for name in found}
    for branch in chosen:
        twin = folded.get(branch.target.casefold())
        if twin is not None and branch.target not in found:
            raise WorkspaceError(
                f"branch {branch.target} differs by case only from {twin!r}, which you have",
                hint=f"remove that one (git branch -D {twin}) or rename the box's branch",
            )
        if f"refs/heads/{branch.target}" in busy:
            raise WorkspaceError(
                f"branch {branch.target} is checked out, so it is left alone",
                hint="switch to another branch there, then repeat the command",
            )
    return {b.target: found.get(b.target, "0" * len(b.tip)) for b in chosen}
