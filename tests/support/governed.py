"""The command line on a machine whose ``/etc/glovebox`` is installed: in a mount namespace of its own.

The host's ``/etc`` is not touched: a writable layer is laid over it for the one command. Needs root.
"""

import os
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from tests.support.installed import Installation
from tests.support.world import GLOVEBOX, Ended

ENTER = """
set -e
mount -t tmpfs -o mode=0755 tmpfs "$1"
mkdir "$1/upper" "$1/work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" /etc
cp -a "$2" /etc/glovebox
shift 2
exec "$@"
"""
NAMESPACE = ["unshare", "--mount", "--propagation", "private"]


@lru_cache
def why_not():
    """Why such a machine cannot be had here; empty where it can."""
    if os.geteuid() != 0:
        return "needs root, to lay an installed /etc/glovebox over the host's"
    probe = [*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        return "needs mount namespaces"
    return ""


class GovernedMachine:
    """A machine with installed layers, for a world of the tests."""

    def __init__(self, root: Path) -> None:
        root.mkdir()
        self.installation = Installation(root)
        self._mount = root / "mount"
        self._mount.mkdir()

    def __getattr__(self, name):
        return getattr(self.installation, name)

    def run(self, world, *arguments, uid=0, env=None, timeout=150):
        """Run the command line there, from a cold start."""
        done = subprocess.run(
            self.command(*arguments, uid=uid),
            cwd=world.project,
            env=world.env(**(env or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def command(self, *arguments, uid=0):
        """The whole command that enters the machine and runs the command line."""
        user = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"] if uid else []
        program = [sys.executable, "-m", "orchestrator.cli.main"] if uid else [GLOVEBOX]
        enter = ["sh", "-c", ENTER, "sh", self._mount, self.installation.path]
        return [str(word) for word in (*NAMESPACE, *enter, *user, *program, *arguments)]


def open_to_all(root: Path) -> None:
    """Let a plain user in to a temporary directory, and own what is in it."""
    for path in (root, *root.rglob("*")):
        shutil.chown(path, 65534, 65534)
