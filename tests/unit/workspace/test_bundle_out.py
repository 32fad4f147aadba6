"""What a sealed container packs is kept up to a limit, and its failures are told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.errors import EngineError, WorkspaceError
from orchestrator.workspace.bundle_out import pack_commits
from orchestrator.workspace.workspace import Site
from tests.support.repositories import CommitDesk, git, make_repository
from tests.support.workspaces import Desk

pytestmark = pytest.mark.docker


@pytest.fixture
def repo_desk(engine, paths, tmp_path: Path, sandbox_image: str) -> Iterator[CommitDesk]:
    project = tmp_path / "repo"
    make_repository(project)
    desk = Desk(engine, paths, project)
    yield CommitDesk(desk, sandbox_image)
    desk.clean()


def limited(site: Site, disk_bytes: int) -> Site:
    return replace(site, record=site.record.model_copy(update={"disk_bytes": disk_bytes}))


def test_bundle_stops_at_the_limit(repo_desk: CommitDesk, tmp_path: Path) -> None:
    """The host's disk is not filled by what a box commits."""
    workspace = repo_desk.work(
        "head -c 9000000 /dev/urandom > big; git add big; git commit -qm big"
    )

    with pytest.raises(WorkspaceError, match="more than 2000000 bytes"):
        pack_commits(limited(workspace.site, 2_000_000), (), tmp_path / "bundle")
    assert (tmp_path / "bundle").stat().st_size <= 2_000_000


def test_known_commits_are_left_out(repo_desk: CommitDesk, tmp_path: Path) -> None:
    """Ids that the box does not have are no error: the host moved on."""
    workspace = repo_desk.work("git commit -q --allow-empty -m One")
    head = git(repo_desk.project, "rev-parse", "HEAD")

    digest = pack_commits(workspace.site, (head, "0" * 39 + "1"), tmp_path / "bundle")

    assert len(digest) == 64
    assert f"-{head}".encode() in (tmp_path / "bundle").read_bytes()


def test_broken_repository_is_told(repo_desk: CommitDesk, tmp_path: Path) -> None:
    """Git's words in there come out escaped."""
    workspace = repo_desk.work("printf '[broken\\033' > .git/config")

    with pytest.raises(WorkspaceError, match="cannot be read") as caught:
        pack_commits(workspace.site, (), tmp_path / "bundle")
    assert "\x1b" not in str(caught.value)
    assert not (tmp_path / "bundle").exists()


def test_missing_volume_is_no_empty_repository(repo_desk: CommitDesk, tmp_path: Path) -> None:
    """Else all commits would look deleted."""
    workspace = repo_desk.work("true")
    gone = workspace.site.record.model_copy(update={"volume": "glovebox-none-workspace"})

    with pytest.raises(EngineError, match="no longer has"):
        pack_commits(replace(workspace.site, record=gone), (), tmp_path / "bundle")
