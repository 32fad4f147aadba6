"""Git on the host runs nothing that a repository or an environment names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.host_git import GitFailed, HostGit
from orchestrator.workspace.host_repository import open_repository
from tests.support.repositories import git, make_repository


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    make_repository(root)
    return root


def test_repository_is_found_at_its_top_alone(project: Path) -> None:
    """A directory inside has no repository of its own, as the box sees none there."""
    found = open_repository(project)

    assert found is not None
    assert found.objects == str(project / ".git/objects")
    assert (found.form, found.shallow) == ("sha1", b"")
    assert open_repository(project / "docs") is None


@pytest.mark.parametrize("strange", ["pipe", "dangling", "device"])
def test_strange_file_in_a_repository_is_named_and_not_waited_for(
    project: Path, strange: str
) -> None:
    """The repository may be a stranger's."""
    shallow = project / ".git/shallow"
    if strange == "pipe":
        os.mkfifo(shallow)
    else:
        shallow.symlink_to("/dev/zero" if strange == "device" else "nowhere")

    with pytest.raises(WorkspaceError, match=r"shallow: cannot be read|cannot use its repository"):
        open_repository(project)


def test_linked_work_tree_has_the_main_repository_s_objects(project: Path) -> None:
    """Its ``.git`` is a file that points elsewhere."""
    tree = project.parent / "tree"
    project.parent.chmod(0o777)
    git(project, "worktree", "add", "-q", str(tree))

    found = open_repository(tree)

    assert found is not None
    assert found.objects == str(project / ".git/objects")


def test_hooks_and_monitors_do_not_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by the repository's settings, not by the caller's environment."""
    ran = project.parent / "ran"
    project.parent.chmod(0o777)
    evil = project.parent / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {ran}\n")
    evil.chmod(0o755)
    hook = project / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.symlink_to(evil)
    for setting in ("core.fsmonitor", "core.sshCommand", "core.editor", "diff.external"):
        git(project, "config", setting, str(evil))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(evil))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    found = open_repository(project)
    assert found is not None

    tip = found.git.text("rev-parse", "HEAD")
    found.git.output("update-ref", "refs/heads/x", tip)
    found.git.output("diff-tree", "-p", "--root", "HEAD")
    assert not ran.exists()

    # The trap itself works: a git without the hardening runs it.
    git(project, "update-ref", "refs/heads/y", tip)
    assert ran.exists()


def test_failure_gives_git_s_own_words(project: Path) -> None:
    """The caller decides what to make of them."""
    with pytest.raises(GitFailed, match="rev-parse") as caught:
        HostGit(str(project / ".git")).text("rev-parse", "--verify", "nope")

    assert caught.value.words


def test_missing_git_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a traceback."""
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(WorkspaceError, match="not installed"):
        open_repository(project)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root works for another owner")
def test_root_writes_as_the_owner(project: Path) -> None:
    """What is made in the repository belongs to whom the repository belongs to."""
    found = open_repository(project)
    assert found is not None

    found.git.output("hash-object", "-w", "--stdin", feed=b"made")

    owners = {path.stat().st_uid for path in (project / ".git/objects").rglob("*")}
    assert owners == {project.stat().st_uid}
