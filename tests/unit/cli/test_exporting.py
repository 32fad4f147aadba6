from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.host_repository import Repository
from tests.support.workspaces import give, picture

pytestmark = pytest.mark.docker

WORK = r"""
echo two >> a.txt; mkdir -p 'new dir'; echo fresh > 'new dir/we"ird\name'
printf '\0\1\2' > blob; mv sub/b.txt sub/c.txt; chmod +x a.txt; ln -s a.txt link; printf x > no-end
printf '\377\n' > latin; : > empty; echo é > 'ü'; rm gone; cp /bin/true big; rm old.bin
head -c 3000 /dev/zero > changed.bin; printf 'tab' > "$(printf 'a\tb')"
"""


@pytest.fixture
def repository(shell) -> Repository:
    """The project as a repository with one commit."""
    made = Repository(shell.desk.project)
    (made.root / "gone").write_text("bye\n")
    (made.root / "old.bin").write_bytes(b"\0" * 200)
    (made.root / "changed.bin").write_bytes(bytes(range(256)) * 8)
    made.begin()
    identity = "[user]\n\tname = Person\n\temail = person@host.example\n"
    Path(shell.env["HOME"], ".gitconfig").write_text(identity)
    return made


def without_git(root: Path) -> dict[str, str]:
    return {path: what for path, what in picture(root).items() if not path.startswith(".git")}


def test_patch_makes_the_same_of_a_clone(shell, repository, tmp_path):
    """Every kind of change, by real git; the directory and the box keep what they had."""
    shell.work(WORK)
    before = picture(shell.desk.project)

    done = shell("apply", "--patch", str(tmp_path / "p"))

    assert done.returncode == 0, done.stderr
    assert picture(shell.desk.project) == before
    clone = repository.clone(tmp_path / "clone")
    subprocess.run(["git", "apply", str(tmp_path / "p")], cwd=clone, check=True)
    assert shell("apply").returncode == 0
    assert without_git(clone) == without_git(shell.desk.project)


def test_patch_goes_to_stdout_and_names_what_it_cannot_hold(shell):
    """Modes and empty directories are git's limits, not silence."""
    shell.work("echo x > n; chmod 600 n; mkdir empty")

    done = shell("apply", "--patch", "-")

    assert "+++ b/n\n" in done.stdout
    assert "n: a patch holds no mode 0600" in done.stderr
    assert "empty: a patch holds no empty directory" in done.stderr


def test_patch_does_not_overwrite_a_file(shell, tmp_path):
    """And leaves none where it fails."""
    shell.work("echo x > n")
    (tmp_path / "p").write_text("mine")

    assert shell("apply", "--patch", str(tmp_path / "p")).returncode == 1
    assert (tmp_path / "p").read_text() == "mine"
    assert shell("apply", "--path", "none", "--patch", str(tmp_path / "q")).returncode == 1
    assert not (tmp_path / "q").exists()


def test_branch_has_the_work_and_the_directory_stays(shell, repository):
    """Work tree, index and HEAD are as before, to the byte."""
    session = shell.work(WORK)
    tree, files = without_git(repository.root), repository.state()

    done = shell("apply", "--branch", "box/work", "-m", "By the box")

    assert done.returncode == 0, done.stderr
    assert without_git(repository.root) == tree
    assert repository.state() == files
    assert repository.git("log", "-1", "--format=%s|%an|%ae|%p", "box/work").split("|")[:3] == [
        "By the box",
        "Person",
        "person@host.example",
    ]
    assert repository.git("rev-parse", "box/work^") == repository.git("rev-parse", "HEAD")
    assert [
        body["commit"] for kind, body in shell.recorded(session) if kind == "apply_outcome"
    ] == [repository.git("rev-parse", "box/work")]
    clone = repository.clone(repository.root.parent / "clone", branch="box/work")
    assert shell("apply").returncode == 0
    assert without_git(clone) == without_git(repository.root)


def test_branch_runs_nothing_of_the_repository(shell, repository, tmp_path):
    """Hooks, monitors, filters and helpers of a hostile configuration stay silent."""
    touched = tmp_path / "touched"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho $0 >> {touched}\ncat\n")
    trap.chmod(0o755)
    hooks = repository.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("reference-transaction", "post-commit", "pre-commit", "post-index-change"):
        (hooks / name).symlink_to(trap)
    for key in (
        "core.fsmonitor",
        "core.editor",
        "core.sshCommand",
        "filter.x.clean",
        "filter.x.process",
        "diff.external",
        "gpg.program",
        "core.alternateRefsCommand",
    ):
        repository.git("config", key, str(trap))
    repository.git("config", "commit.gpgSign", "true")
    (repository.root / ".git/info/attributes").write_text("* filter=x\n")
    give(repository.root)
    shell.work("echo two >> a.txt")

    done = shell("apply", "--branch", "work")

    assert done.returncode == 0, done.stderr
    assert not touched.exists()
    assert repository.git("show", "work:a.txt") == "one\ntwo"


def test_own_uncommitted_edits_stay_off_the_branch(shell, repository):
    """In the same file, only the box's lines go; where they overlap, nothing is made."""
    lines = "".join(f"{number}\n" for number in range(20))
    repository.commit({"long": lines, "other": "1\n"})
    (repository.root / "long").write_text(lines.replace("3\n", "mine\n", 1))
    (repository.root / "other").write_text("mine\n")
    give(repository.root)
    shell.work("sed -i s/^15$/box/ long; echo box > other")

    overlap = shell("apply", "--branch", "work")
    done = shell("apply", "--branch", "work", "--path", "long")

    assert overlap.returncode == 1
    assert "'other'" in overlap.stderr
    assert "'long'" not in overlap.stderr
    assert done.returncode == 0, done.stderr
    assert repository.git("show", "work:long") == lines.replace("15\n", "box\n").strip()


@pytest.mark.parametrize("name", ["main", "-d", "a..b", "x y", "HEAD~1"])
def test_bad_or_taken_branch_is_refused(shell, repository, name):
    """Nothing is made, and no branch is moved."""
    shell.work("echo two >> a.txt")
    before = repository.git("for-each-ref")

    done = shell("apply", f"--branch={name}")

    assert done.returncode == 2
    assert repository.git("for-each-ref") == before


def test_subdirectory_of_a_repository_is_told_of_the_patch(shell, repository):
    """The box saw no repository there, so there is none to branch; a patch works."""
    shell.desk.project = repository.root / "sub"
    shell.work("echo 2 >> b.txt")

    done = shell("apply", "--branch", "work")

    assert done.returncode == 1
    assert "--patch" in done.stderr


def test_directory_without_a_repository_and_odd_flags_are_refused(shell):
    """With the reason."""
    shell.work("echo two >> a.txt")

    assert "no git repository begins here" in shell("apply", "--branch", "work").stderr
    assert shell("apply", "--branch", "w", "--patch", "p").returncode == 2
    assert shell("apply", "-m", "text").returncode == 2
    assert not os.path.lexists(shell.desk.project / "p")


def test_commit_without_an_author_is_refused(shell, repository):
    """Nobody is made up."""
    Path(shell.env["HOME"], ".gitconfig").unlink()
    shell.work("echo two >> a.txt")

    done = shell("apply", "--branch", "work")

    assert done.returncode == 1
    assert "user.name is not set" in done.stderr
    assert repository.git("branch", "--format=%(refname:short)") == "main"
