"""Who commits in the box: the name and address of the host's git, and nothing else of its settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.workspace import WORKDIR

_WANTED = ("user.name", "user.email")
_FROM_HOST = ("PATH", "HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
_SECONDS = 10
_MOST = 200


def read_identity(directory: Path) -> dict[str, str]:
    """Return ``user.name`` and ``user.email`` as git has them in a directory; blocks.

    Reading settings runs nothing. Values that could not be shown on one line are left out, and
    so is everything where git is missing or its settings are broken.
    """
    environment = {name: os.environ[name] for name in _FROM_HOST if name in os.environ}
    pattern = r"^user\.(name|email)$"
    try:
        told = subprocess.run(
            ["git", "config", "--null", "--get-regexp", pattern],  # noqa: S607 - the person's git
            cwd=directory,
            env=environment | {"LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found: dict[str, str] = {}
    for entry in told.stdout.decode("utf-8", "replace").split("\0"):
        name, _, value = entry.partition("\n")
        # The last one counts, as for git.
        if name in _WANTED:
            found[name] = value
    return {n: v for n, v in found.items() if v and len(v) <= _MOST and escape_terminal(v) == v}


def git_variables(identity: dict[str, str]) -> dict[str, str]:
    """Return what tells the box's git: as settings, so that ``git -c user.name=…`` still wins."""
    settings = {"safe.directory": WORKDIR, **identity}
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables
