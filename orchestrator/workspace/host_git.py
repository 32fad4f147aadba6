"""The host's git, started so that no repository and no environment can make it run anything else.

Even so it works only on repositories that no box can have written: the host's own, and the
quarantine that ``quarantine`` makes. Everything blocks.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.alternateRefsCommand=",
    "core.sshCommand=false",
    "core.askPass=false",
    "core.gitProxy=",
    "core.editor=false",
    "core.pager=cat",
    "core.logAllRefUpdates=false",
    # Bounds what a small pack can swell to in memory; larger files are streamed.
    "core.bigFileThreshold=16m",
    "core.packedGitLimit=512m",
    "core.packedGitWindowSize=32m",
    "credential.helper=",
    "diff.external=",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "log.showSignature=false",
    "log.mailmap=false",
    "maintenance.auto=false",
    "protocol.allow=never",
    "receive.fsckObjects=true",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "transfer.fsckObjects=true",
)

_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ASKPASS": "false",
    "GIT_SSH_COMMAND": "false",
    "GIT_EDITOR": "false",
    "GIT_PAGER": "cat",
}

_SECONDS = 600
_ADDRESS_SPACE_KIB = 4 * 1024 * 1024
"""Of one git process: a pack may promise an object that no memory holds."""
# A limit that cannot be set is one that is lower already.
_LIMITED = f'ulimit -v {_ADDRESS_SPACE_KIB}; ulimit -t {_SECONDS}; exec "$@"'
_MOST_OUTPUT = 64 * 1024 * 1024
_MOST_WORDS = 4096


class GitFailed(Exception):  # noqa: N818 - caught here and there, never shown as it is
    """Raised when git ends with an error; ``words`` is what it said, untrusted."""

    def __init__(self, command: str, words: str) -> None:
        """Keep the subcommand and the last words."""
        super().__init__(f"git {command}: {words}")
        self.words = words


@dataclass(frozen=True, slots=True)
class HostGit:
    """Git on one repository."""

    git_dir: str
    """Named outright, so that git looks for no other; relative to ``directory``."""
    directory: Path = Path("/")
    """Where git is started. Entered as the caller: the owner may not be able to reach it."""
    owner: tuple[int, int] | None = None
    """Uid and gid to run as, for a root caller; so that what is written belongs to the owner."""

    def text(self, *arguments: str, feed: bytes = b"") -> str:
        """Return what git printed, without the last line feed; GitFailed when it failed."""
        return self.output(*arguments, feed=feed).decode("utf-8", "surrogateescape").rstrip("\n")

    def output(self, *arguments: str, feed: bytes = b"") -> bytes:
        """Return git's standard output; GitFailed when it failed or said too much."""
        with tempfile.TemporaryFile() as source:
            source.write(feed)
            source.seek(0)
            return self.read_from(source, *arguments)

    def read_from(self, source: IO[bytes], *arguments: str) -> bytes:
        """Run git with an open file, from where it stands, as its standard input."""
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        git = ["git", "--no-pager", "--no-optional-locks", *settings]
        git += ["--git-dir", self.git_dir, *arguments]
        uid, gid = self.owner or (None, None)
        with (
            tempfile.TemporaryFile() as errors,
            subprocess.Popen(
                ["/bin/sh", "-c", _LIMITED, "sh", *git],
                cwd=self.directory,
                # Of the caller's environment only where programs are: GIT_DIR and its kin name
                # repositories, and much else runs programs.
                env={"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT},
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=errors,
                user=uid,
                group=gid,
                extra_groups=None if uid is None else [],
            ) as process,
        ):
            watchdog = threading.Timer(_SECONDS, process.kill)
            watchdog.start()
            try:
                found = process.stdout.read(_MOST_OUTPUT + 1) if process.stdout else b""
                if len(found) > _MOST_OUTPUT:
                    process.kill()
                    raise GitFailed(arguments[0], f"it printed more than {_MOST_OUTPUT} bytes")
                code = process.wait()
            finally:
                watchdog.cancel()
            if code:
                errors.seek(0)
                words = errors.read(_MOST_WORDS).decode("utf-8", "replace").strip()
                raise GitFailed(arguments[0], words or f"it ended with {code}")
        return found
