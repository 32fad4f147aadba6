"""The name and address of the host's git, and nothing else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.workspace.git_identity import git_variables, read_identity
from tests.support.workspaces import give


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, and none of this machine's settings."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    return tmp_path


def settings(home: Path, text: str) -> None:
    (home / ".gitconfig").write_text(text)


def test_effective_settings_count(home: Path) -> None:
    """The repository's own win over the person's, as for git."""
    settings(home, "[user]\n\tname = Ada\n\temail = ada@home.example\n\tsigningKey = SECRET\n")
    project = home / "project"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    subprocess.run(["git", "-C", str(project), "config", "user.email", "ada@work"], check=True)

    assert read_identity(project) == {"user.name": "Ada", "user.email": "ada@work"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may work on anybody's directory")
@pytest.mark.parametrize("below", ["", "sub"])
def test_root_commits_under_the_name_in_the_owners_repository(home: Path, below: str) -> None:
    """Git of root would pass over it; what it does not set is root's own, as for git."""
    settings(home, "[user]\n\tname = Root\n\temail = root@host\n")
    project = home / "project"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    subprocess.run(["git", "-C", str(project), "config", "user.name", "Local"], check=True)
    (project / "sub").mkdir()
    give(project)

    assert read_identity(project / below) == {"user.name": "Local", "user.email": "root@host"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may work on anybody's directory")
def test_repository_cannot_have_roots_files_read(home: Path) -> None:
    """What it includes is read with its owner's rights."""
    (home / "secret").write_text("[user]\n\tname = Secret\n")
    (home / "secret").chmod(0o600)
    project = home / "project"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / ".git/config").write_text(f"[include]\n\tpath = {home}/secret\n")
    give(project)

    assert "user.name" not in read_identity(project)


def test_nothing_set_is_nothing_given(home: Path) -> None:
    """Git in the box then asks for a name, as it does on the host."""
    assert read_identity(home) == {}


def test_values_that_deceive_are_left_out(home: Path) -> None:
    """An address with an escape, a name of several lines."""
    settings(home, '[user]\n\tname = "A\\nB"\n\temail = "a\x1b[2J@b"\n')

    assert read_identity(home) == {}


def test_missing_git_is_no_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host without git has no identity to give."""
    settings(home, "[user]\n\tname = Ada\n")
    monkeypatch.setenv("PATH", "/nonexistent")

    assert read_identity(home) == {}


def test_flags_of_a_command_win_over_the_variables(home: Path) -> None:
    """What the box's git is told is a default, not a cage."""
    variables = git_variables({"user.name": "Ada", "user.email": "a@b"})
    env = {"PATH": os.environ["PATH"], "HOME": str(home), **variables}

    def name(*flags: str) -> str:
        command = ["git", *flags, "config", "user.name"]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    assert name() == "Ada\n"
    assert name("-c", "user.name=Other") == "Other\n"
    assert variables["GIT_CONFIG_VALUE_0"] == "/workspace"
