"""Commits made in a box, and their one way to the host: a checked bundle, into a branch apart.

The work tree, the index, HEAD and every branch of the person's own stay as they are.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from orchestrator.errors import EngineError, WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.bundle_header import RefusedBranch, read_header
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
from orchestrator.workspace.handover import in_thread
from orchestrator.workspace.host_effects import effects_table
from orchestrator.workspace.host_git import GitFailed
from orchestrator.workspace.host_repository import HostRepository, open_repository
from orchestrator.workspace.judge import Rules
from orchestrator.workspace.node import ChangeSet
from orchestrator.workspace.quarantine import (
    MOST_COMMITS,
    Quarantine,
    host_tips,
    open_quarantine,
)
from orchestrator.workspace.record import locked
from orchestrator.workspace.tree import open_tree
from orchestrator.workspace.workspace import Site, Workspace


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


def _read(site: Site) -> BoxCommits:
    record = site.record
    session = SessionId(record.session)
    repository = host_repository(site)
    folder = commit_folder(site)
    digest = pack_commits(site, host_tips(repository), folder / "bundle")
    if not digest:
        return BoxCommits(session)
    with (folder / "bundle").open("rb") as file:
        header = read_header(file)
    if not header.branches:
        return BoxCommits(session, digest=digest, refused=header.refused)
    quarantine = open_quarantine(folder / "repository.git", folder / "bundle", repository)
    try:
        with open_tree(Path(record.directory)) as tree:
            rules = Rules(
                protected=path_globs(record.protected),
                hidden=path_globs(record.hidden),
                effects=effects_table(()),
                limits=site.limits,
                on_host=tree.has_file,
            )
            found = list(_branches(quarantine, rules, session))
    except (GitFailed, ValueError) as err:
        raise WorkspaceError(f"the box's commits cannot be read: {err}") from err
    finally:
        shutil.rmtree(folder / "repository.git", ignore_errors=True)
    branches = tuple(branch for branch in found if isinstance(branch, BoxBranch))
    refused = (branch for branch in found if isinstance(branch, RefusedBranch))
    return BoxCommits(session, branches, digest, refused=(*header.refused, *refused))


def _branches(
    quarantine: Quarantine, rules: Rules, session: SessionId
) -> Iterable[BoxBranch | RefusedBranch]:
    for branch in quarantine.header.branches:
        ids = quarantine.commits(branch.tip)
        if len(ids) > MOST_COMMITS:
            yield RefusedBranch(branch.name, f"it has more than {MOST_COMMITS} new commits")
        if not 0 < len(ids) <= MOST_COMMITS:
            continue
        raw = quarantine.read_files(ids)
        odd = next((one.path for one in raw if any(map(is_git_name, one.path.split("/")))), None)
        if odd is not None:
            why = f"it holds {odd!r}, which some system takes for .git"
            yield RefusedBranch(branch.name, why)
            continue
        yield BoxBranch(
            branch.name,
            branch.tip,
            target_branch(session, branch.name),
            judge_commits(quarantine.read_commits(ids)),
            judge_files(raw, rules, quarantine.link_target),
        )


def host_repository(site: Site) -> HostRepository:
    """Return the repository that takes a session's commits; WorkspaceError where there is none."""
    directory = Path(site.record.directory)
    repository = open_repository(directory)
    if repository is None:
        raise WorkspaceError(
            f"{directory} is no git repository, so it cannot take the box's commits",
            hint=f"run `git init {directory}` if you want them, then repeat the command",
        )
    return repository


def commit_folder(site: Site) -> Path:
    """Return where a session's bundle is kept, made where it lacks."""
    folder = site.folder / "commits"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
