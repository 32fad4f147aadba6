"""A repository of a person, as the tests of the way home look at it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.support.workspaces import give, write

_ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
    "GIT_CONFIG_KEY_1": "user.name",
    "GIT_CONFIG_VALUE_1": "Person",
    "GIT_CONFIG_KEY_2": "user.email",
    "GIT_CONFIG_VALUE_2": "person@host.example",
    "GIT_OPTIONAL_LOCKS": "0",
}


class Repository:
    """One directory under git, with a branch main."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def git(self, *arguments: str) -> str:
        """Run git as the person would, touching no owner; output without its last line end."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env=_ENV,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.removesuffix("\n")

    def begin(self) -> None:
        """Make the repository with everything in it committed."""
        self.git("init", "-q", "-b", "main")
        self.commit({})

    def commit(self, files: dict[str, str | bytes]) -> None:
        """Write files and commit everything."""
        write(self.root, files)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "begin", "--allow-empty")
        give(self.root)

    def clone(self, to: Path, *, branch: str = "main") -> Path:
        """Check a branch out elsewhere, as a repository of its own."""
        self.git("worktree", "add", "-q", "--detach", str(to), branch)
        return to

    def state(self) -> tuple[bytes, bytes, str]:
        """Return what no export may touch: index, HEAD and the branch it names."""
        inner = self.root / ".git"
        index, head = (inner / "index").read_bytes(), (inner / "HEAD").read_bytes()
        return index, head, self.git("rev-parse", "main")
