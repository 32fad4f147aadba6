"""Commits of a real box reach the host as branches apart, and nothing else of it changes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from orchestrator.errors import UsageError, WorkspaceError
from orchestrator.workspace.commit_fetch import fetch_commits
from orchestrator.workspace.commit_set import encode_commits
from tests.support.repositories import CommitDesk, git, make_repository
from tests.support.workspaces import Desk, give, write

pytestmark = pytest.mark.docker


@pytest.fixture(params=["overlay", "copy"])
def repo_desk(
    request: pytest.FixtureRequest, engine, paths, tmp_path: Path, sandbox_image: str
) -> Iterator[CommitDesk]:
    project = tmp_path / "repo"
    make_repository(project)
    desk = Desk(engine, paths, project, request.param)
    yield CommitDesk(desk, sandbox_image)
    desk.clean()


@pytest.fixture
def overlay_desk(engine, paths, tmp_path: Path, sandbox_image: str) -> Iterator[CommitDesk]:
    project = tmp_path / "repo"
    make_repository(project)
    desk = Desk(engine, paths, project)
    yield CommitDesk(desk, sandbox_image)
    desk.clean()


TWO = "echo two >> app.py; git commit -qam 'Second'; echo t > t; git add t; git commit -qm 'Third'"


def everything_else(project: Path) -> dict[str, object]:
    """What a fetch must leave alone."""
    inside = project / ".git"
    return {
        "status": git(project, "status", "--porcelain=v2", "--branch"),
        "index": (inside / "index").read_bytes(),
        "head": (inside / "HEAD").read_text(),
        "config": (inside / "config").read_text(),
        "main": git(project, "rev-parse", "main"),
        "tags": git(project, "tag"),
        "logs": sorted(str(path) for path in (inside / "logs").rglob("*")),
        "files": {p.name: p.read_bytes() for p in project.iterdir() if p.is_file()},
    }


def test_commits_of_a_box_become_branches(repo_desk: CommitDesk) -> None:
    """Each branch with new commits comes out under the session's name; all else stays."""
    project = repo_desk.project
    before = everything_else(project)
    workspace = repo_desk.work(
        TWO + "; git switch -qc topic; git commit -q --allow-empty -m Fourth"
    )

    shown = repo_desk.look(workspace)
    done = repo_desk.fetch(workspace)

    session = workspace.site.record.session
    target = f"glovebox/{session}/main"
    assert shown.trouble == ""
    assert shown.count == 3
    assert [c.subject for b in shown.branches if b.name == "main" for c in b.commits] == [
        "Third",
        "Second",
    ]
    assert {branch.name for branch in done.branches} == {"main", "topic"}
    assert git(project, "log", "--format=%s", target) == "Third\nSecond\nFirst"
    assert git(project, "show", f"{target}:app.py") == "print('one')\ntwo"
    assert git(project, "fsck", "--strict") == ""
    assert everything_else(project) == before
    owner = project.stat().st_uid
    assert {path.stat().st_uid for path in (project / ".git").rglob("*")} == {owner}
    assert not repo_desk.look(workspace)
    assert encode_commits(shown)["branches"][0]["target"] == target


def test_session_without_commits_costs_no_container(overlay_desk: CommitDesk) -> None:
    """Only a branch that moved is looked at; staging alone is none."""
    workspace = overlay_desk.work("echo x > x; git add x")

    assert overlay_desk.desk.look(workspace).moved_repositories == ()
    assert not overlay_desk.look(workspace)
    with pytest.raises(WorkspaceError, match="no commits"):
        overlay_desk.fetch(workspace)


def test_moved_branch_without_new_commits_is_nothing(overlay_desk: CommitDesk) -> None:
    """A branch that points to what the host has brings nothing."""
    workspace = overlay_desk.work("git branch same; git switch -q same")

    assert overlay_desk.desk.look(workspace).moved_repositories == ("",)
    assert not overlay_desk.look(workspace)


def test_commits_on_no_branch_come_out_too(overlay_desk: CommitDesk) -> None:
    """Work on a detached HEAD is not lost."""
    workspace = overlay_desk.work("git checkout -q --detach; git commit -q --allow-empty -m Loose")

    [branch] = overlay_desk.fetch(workspace).branches

    assert branch.name == "detached-head"
    assert git(overlay_desk.project, "log", "-1", "--format=%s", branch.target) == "Loose"


def test_second_fetch_moves_the_branch_on(overlay_desk: CommitDesk) -> None:
    """A rewritten history replaces what the same session brought before."""
    workspace = overlay_desk.work(TWO)
    overlay_desk.fetch(workspace)
    overlay_desk.go_on(workspace, "git commit -q --amend -m 'Third, better'")

    [branch] = overlay_desk.fetch(workspace).branches

    log = git(overlay_desk.project, "log", "--format=%s", branch.target)
    assert log == "Third, better\nSecond\nFirst"


def test_one_branch_alone_can_be_fetched(overlay_desk: CommitDesk) -> None:
    """Names choose; an unknown one is an error that lists the others."""
    workspace = overlay_desk.work(TWO + "; git switch -qc topic; git commit -q --allow-empty -m 4")

    with pytest.raises(UsageError, match="no new commits"):
        overlay_desk.fetch(workspace, "nope")
    overlay_desk.fetch(workspace, "topic")

    names = git(overlay_desk.project, "branch", "--format=%(refname:short)").splitlines()
    assert names == [f"glovebox/{workspace.site.record.session}/topic", "main"]


def test_protected_files_in_commits_want_an_explicit_yes(overlay_desk: CommitDesk) -> None:
    """What apply would hold back is held back here."""
    workspace = overlay_desk.work(
        "echo x > .envrc; ln -s /etc/passwd out; printf 'all:\\n' > Makefile; echo S > .env\n"
        "git add -f .; git commit -qm bad"
    )

    [branch] = overlay_desk.look(workspace).branches
    with pytest.raises(WorkspaceError, match=r"\.envrc.*policy protects it"):
        overlay_desk.fetch(workspace)
    told = {file.path: (file.protected, file.runs_on_host) for file in branch.files}

    assert told == {
        ".env": ("policy hides this path from the box", ""),
        ".envrc": ("policy protects it", "shell settings on entering the directory"),
        "Makefile": ("", "build or test configuration"),
        "out": ("it is a link to an absolute path", ""),
    }
    assert git(overlay_desk.project, "branch", "--list", "glovebox/*") == ""
    assert overlay_desk.fetch(workspace, include_protected=True).branches


def test_checked_out_branch_is_left_alone(overlay_desk: CommitDesk) -> None:
    """A branch that somebody works on is not moved under them."""
    workspace = overlay_desk.work(TWO)
    [branch] = overlay_desk.fetch(workspace).branches
    git(overlay_desk.project, "reset", "-q", "--hard", "main")
    git(overlay_desk.project, "branch", "-f", branch.target, "main")
    git(overlay_desk.project, "checkout", "-q", branch.target)
    give(overlay_desk.project)

    with pytest.raises(WorkspaceError, match="checked out"):
        overlay_desk.fetch(workspace)


def test_commits_that_changed_since_they_were_shown_are_not_fetched(
    overlay_desk: CommitDesk,
) -> None:
    """The yes is bound to what was seen."""
    workspace = overlay_desk.work(TWO)
    shown = overlay_desk.look(workspace)
    bundle = workspace.site.folder / "commits" / "bundle"
    bundle.write_bytes(bundle.read_bytes() + b"\n")

    with pytest.raises(WorkspaceError, match="others than those"):
        anyio.run(lambda: fetch_commits(workspace, shown, (), include_protected=False))


def test_directory_without_a_repository_says_what_to_do(overlay_desk: CommitDesk) -> None:
    """The box made a repository of its own; the host has none to take its commits."""
    shutil.rmtree(overlay_desk.project / ".git")
    workspace = overlay_desk.work("git init -q -b main; git add .; git commit -qm New")

    assert "no git repository" in overlay_desk.look(workspace).trouble

    git(overlay_desk.project, "init", "-q", "-b", "main")
    give(overlay_desk.project)
    [branch] = overlay_desk.fetch(workspace).branches
    assert git(overlay_desk.project, "log", "--format=%s", branch.target) == "New"


def test_sha256_repository_works(engine, paths, tmp_path: Path, sandbox_image: str) -> None:
    """The other object format needs the other bundle version."""
    project = tmp_path / "repo"
    make_repository(project, form="sha256")
    desk = Desk(engine, paths, project)
    try:
        workspace = CommitDesk(desk, sandbox_image).work(TWO)
        [branch] = CommitDesk(desk, sandbox_image).fetch(workspace).branches

        assert len(branch.tip) == 64
        assert git(project, "log", "--format=%s", branch.target) == "Third\nSecond\nFirst"
    finally:
        desk.clean()


def test_clone_with_a_cut_history_works(engine, paths, tmp_path: Path, sandbox_image: str) -> None:
    """A shallow clone takes what builds on it."""
    make_repository(tmp_path / "whole", owned=False)
    write(tmp_path / "whole", {"app.py": "2\n"})
    git(tmp_path / "whole", "commit", "-qam", "Later")
    project = tmp_path / "repo"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{tmp_path / 'whole'}", str(project))
    give(project)
    desk = Desk(engine, paths, project)
    try:
        workspace = CommitDesk(desk, sandbox_image).work(TWO)
        [branch] = CommitDesk(desk, sandbox_image).fetch(workspace).branches

        log = git(project, "log", "--format=%s", branch.target)
        assert log == "Third\nSecond\nLater"
    finally:
        desk.clean()
