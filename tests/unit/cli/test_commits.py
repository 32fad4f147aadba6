"""Commits of a box by the command line, as a person and as a script."""

from __future__ import annotations

import json
import os
import pty
import subprocess

import pytest

from tests.support.repositories import IDENTITY, git
from tests.support.workspaces import play_box, write

pytestmark = pytest.mark.docker


@pytest.fixture
def repo_shell(shell, image):
    project = shell.desk.project
    git(project, "init", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-qm", "First")

    def work(script):
        workspace, prepared = shell.desk.begin()
        play_box(shell.desk.engine, prepared, IDENTITY + script, image=image)
        shell.chain(workspace.site.record.session)
        return workspace.site.record.session

    shell.commit = work
    return shell


def branches(shell):
    return git(shell.desk.project, "branch", "--format=%(refname:short)").splitlines()


def test_diff_tells_of_commits_and_apply_fetches_them(repo_shell):
    """The list on stderr, the branch on stdout, both in the audit chain."""
    session = repo_shell.commit("echo x > new; git add new; git commit -qm 'New thing'")

    shown = repo_shell("diff", session)
    told = json.loads(repo_shell("diff", session, "--json").stdout)["commits"]
    done = repo_shell("apply", session, "--commits", "--yes")

    line = f"commits: 1 on main wait: glovebox apply --commits {session}"
    assert line in shown.stderr.splitlines()
    assert (told["count"], told["branches"][0]["commits"][0]["subject"]) == (1, "New thing")
    assert done.returncode == 0, done.stderr
    assert "New thing (Agent <agent@box.example>)" in done.stderr
    assert done.stdout == f"branch glovebox/{session}/main: 1 commits\n"
    assert branches(repo_shell) == [f"glovebox/{session}/main", "main"]
    chain = repo_shell.desk.paths.audit_log(session).read_text().splitlines()
    records = {r["type"]: r["body"] for r in map(json.loads, chain)}
    assert records["commits_intent"]["branches"][0]["commits"] == 1
    assert records["commits_outcome"]["branches"] == [f"glovebox/{session}/main"]


def test_nobody_to_ask_means_no(repo_shell):
    """Without a terminal and without --yes, nothing is fetched."""
    session = repo_shell.commit("git commit -q --allow-empty -m x")

    refused = repo_shell("apply", session, "--commits")

    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    assert branches(repo_shell) == ["main"]


@pytest.mark.parametrize(("answer", "made"), [("y", True), ("", False), ("n", False)])
def test_person_decides(repo_shell, answer, made):
    """The default is no."""
    session = repo_shell.commit("git commit -q --allow-empty -m x")
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *repo_shell.command("apply", session, "--commits")],
        cwd=repo_shell.desk.project,
        env=repo_shell.env,
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    seen = b""
    while b"(default): " not in seen:
        seen += os.read(leader, 4096)
    os.write(leader, f"{answer}\n".encode())
    code = process.wait(60)
    os.close(leader)

    assert code == (0 if made else 1)
    assert (f"glovebox/{session}/main" in branches(repo_shell)) is made


def test_protected_files_need_their_own_flag(repo_shell):
    """--yes alone is not that yes."""
    write(repo_shell.desk.project, {"x": ""})
    session = repo_shell.commit("echo x > .envrc; git add -f .envrc; git commit -qm x")

    refused = repo_shell("apply", session, "--commits", "--yes")
    taken = repo_shell("apply", session, "--commits", "--yes", "--include-protected")

    assert refused.returncode == 1
    assert "--include-protected" in refused.stderr
    assert taken.returncode == 0


def test_paths_and_commits_do_not_mix(repo_shell):
    """A branch is whole or not at all."""
    session = repo_shell.commit("git commit -q --allow-empty -m x")

    assert repo_shell("apply", session, "--commits", "--path", "x").returncode == 2
