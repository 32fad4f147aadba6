"""The private directory for a session's socket: short, since socket paths end at 107 bytes."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from orchestrator.engine.labels import is_alive, owner_label
from orchestrator.errors import BoxError
from orchestrator.sandbox.container_spec import NAME_FILES
from orchestrator.sandbox.hello import SOCKET_NAME

MAX_SOCKET_PATH = 107
_OWNER_FILE = "owner"
_LEAF = "s"


def runtime_root(environ: Mapping[str, str], uid: int) -> Path:
    """Return where socket directories go: the user's runtime directory, else one below /tmp."""
    given = environ.get("XDG_RUNTIME_DIR")
    if given and Path(given).is_absolute() and len(given) < MAX_SOCKET_PATH - 60:
        return Path(given) / "glovebox"
    return Path(f"/tmp/glovebox-{uid}")  # noqa: S108 - checked by private_directory


class SocketDirectory:
    """One session's directory with a listening socket in it, from start until the box called."""

    def __init__(self, root: Path) -> None:
        """Make both; the directory to mount is ``leaf``."""
        private_directory(root)
        self._top = root / secrets.token_hex(6)
        self._top.mkdir(mode=0o700)
        self.names = self._top
        """Holds the box's ``hosts`` and ``resolv.conf``, each to be mounted by itself."""
        try:
            (self._top / _OWNER_FILE).write_text(owner_label())
            self.leaf = self._top / _LEAF
            self.leaf.mkdir()
            # The server is root without any power over files: others' permission is what it has.
            # Nobody else gets here, as the parents are private on both sides.
            self.leaf.chmod(0o711)
            for name, text in NAME_FILES.items():
                (self.names / name).write_text(text)
                (self.names / name).chmod(0o644)
            self.listener = listen_at(self.leaf / SOCKET_NAME, mode=0o666, backlog=2)
        except BaseException:
            shutil.rmtree(self._top, ignore_errors=True)
            raise

    def close(self) -> None:
        """Close the listener and remove the directory, mounted or not."""
        self.listener.close()
        shutil.rmtree(self._top, ignore_errors=True)


def sweep(root: Path) -> None:
    """Remove the directories of dead processes."""
    with suppress(FileNotFoundError):
        for top in root.iterdir():
            # Something else's, a pool's socket for one, has no owner's name in it.
            with suppress(FileNotFoundError, NotADirectoryError):
                if not is_alive((top / _OWNER_FILE).read_text()):
                    shutil.rmtree(top, ignore_errors=True)


def private_directory(root: Path) -> None:
    """Make a directory that only this user may enter; BoxError where it is not so."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = root.lstat()
    private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    if not private or found.st_uid != os.geteuid():
        raise BoxError(
            f"{root}: must be a directory of yours with mode 0700, or another user could listen in",
            hint=f"remove {root}, or set XDG_RUNTIME_DIR",
        )


def listen_at(
    path: Path, *, mode: int, backlog: int, kind: socket.SocketKind = socket.SOCK_STREAM
) -> socket.socket:
    """Return a listener that does not block; BoxError where the path is too long for a socket.

    Its directory is private; nobody can connect before ``mode`` says who may.
    """
    if len(os.fsencode(path)) > MAX_SOCKET_PATH:
        raise BoxError(
            f"{path}: a socket's path may have {MAX_SOCKET_PATH} bytes",
            hint="set XDG_RUNTIME_DIR to a directory of yours with a shorter path",
        )
    listener = socket.socket(socket.AF_UNIX, kind)
    try:
        listener.bind(str(path))
        path.chmod(mode)
        listener.listen(backlog)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener
