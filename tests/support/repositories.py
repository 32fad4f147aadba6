"""A project that is a real git repository, and boxes that commit in it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import anyio

from orchestrator.workspace.commit_fetch import Fetched, fetch_commits
from orchestrator.workspace.commit_set import BoxCommits
from orchestrator.workspace.commits import read_commits
from orchestrator.workspace.workspace import Workspace
from tests.support.workspaces import Desk, give, play_box, write

IDENTITY = (
    "export GIT_AUTHOR_NAME=Agent GIT_AUTHOR_EMAIL=agent@box.example "
    "GIT_COMMITTER_NAME=Agent GIT_COMMITTER_EMAIL=agent@box.example HOME=/tmp\n"
    "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'\nset -e\n"
)


def git(directory: Path, *arguments: str) -> str:
    """Run git as a person does, with none of this machine's settings."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Person",
        "GIT_AUTHOR_EMAIL": "person@host.example",
        "GIT_COMMITTER_NAME": "Person",
        "GIT_COMMITTER_EMAIL": "person@host.example",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    owner = directory.stat().st_uid
    ended = subprocess.run(
        ["git", *arguments],
        cwd=directory,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    if owner != os.geteuid():
        give(directory, owner)
    return ended.stdout.strip()


def make_repository(root: Path, *, form: str = "sha1", owned: bool = True) -> None:
    """Make a repository with one commit on main, as a rule owned by the plain user."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main", f"--object-format={form}")
    write(root, {"app.py": "print('one')\n", "docs/a.md": "a\n"})
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "First")
    if owned:
        give(root)


@dataclass
class CommitDesk:
    """Sessions on a repository; their boxes have git."""

    desk: Desk
    image: str

    @property
    def project(self) -> Path:
        return self.desk.project

    def work(self, script: str) -> Workspace:
        """Let a box run a script that may commit."""
        workspace, prepared = self.desk.begin()
        play_box(self.desk.engine, prepared, IDENTITY + script, image=self.image)
        return workspace

    def go_on(self, workspace: Workspace, script: str) -> None:
        """Let another box of the same session run a script."""
        _, prepared = self.desk.begin(workspace.site.record.session)
        play_box(self.desk.engine, prepared, IDENTITY + script, image=self.image)

    def look(self, workspace: Workspace) -> BoxCommits:
        """Read the commits that wait."""
        changes = self.desk.look(workspace)
        return anyio.run(read_commits, workspace, changes)

    def fetch(self, workspace: Workspace, *names: str, include_protected: bool = False) -> Fetched:
        """Fetch the commits as they are now."""
        shown = self.look(workspace)
        return anyio.run(
            lambda: fetch_commits(workspace, shown, names, include_protected=include_protected)
        )
