"""Who commits in the box: the name and address of the host's git, and nothing else of its settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.workspace import WORKDIR

_WANTED = ("user.name", "user.email")
_FROM_HOST = ("PATH", "HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
_OWN_ONLY = {"HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
_SECONDS = 10
_MOST = 200


def read_identity(directory: Path) -> dict[str, str]:
    """Return ``user.name`` and ``user.email`` as git has them in a directory; blocks.

    Reading settings runs nothing. Values that could not be shown on one line are left out, and
    so is everything where git is missing or its settings are broken.
    """
    environment = {name: os.environ[name] for name in _FROM_HOST if name in os.environ}
    found = _settings(directory, environment)
    if os.geteuid() == 0:
        # Git of root passes over the settings of anybody else's repository. They win, as for the
        # owner; and are read as the owner, for they may name other files to be read.
        found |= _owners_settings(directory.resolve())
    return {n: v for n, v in found.items() if v and len(v) <= _MOST and escape_terminal(v) == v}


def _owners_settings(directory: Path) -> dict[str, str]:
    """Return what the repository that a directory is in says, where it is a plain user's."""
    for top in (directory, *directory.parents):
        if os.path.lexists(top / ".git"):
            owner = top.stat()
            who = (owner.st_uid, owner.st_gid)
            return _settings(top, _OWN_ONLY, who) if owner.st_uid else {}
    return {}


def _settings(
    directory: Path, environment: dict[str, str], owner: tuple[int, int] | None = None
) -> dict[str, str]:
    """Return what git says, raw; as the owner of a repository that begins at ``directory``."""
    # By a path that the owner can pass, whatever the directories above it allow.
    command = ["git", "--git-dir", "/proc/self/cwd/.git"] if owner else ["git"]
    uid, gid = owner or (None, None)
    try:
        told = subprocess.run(
            [*command, "config", "--null", "--includes", "--get-regexp", r"^user\.(name|email)$"],
            cwd=directory,
            env={"PATH": os.environ.get("PATH", os.defpath), **environment, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            user=uid,
            group=gid,
            extra_groups=None if uid is None else [],
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found: dict[str, str] = {}
    for entry in told.stdout.decode("utf-8", "replace").split("\0"):
        name, _, value = entry.partition("\n")
        # The last one counts, as for git.
        if name in _WANTED:
            found[name] = value
    return found


def git_variables(identity: dict[str, str]) -> dict[str, str]:
    """Return what tells the box's git: as settings, so that ``git -c user.name=…`` still wins."""
    settings = {"safe.directory": WORKDIR, **identity}
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables
