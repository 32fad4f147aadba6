"""Real listeners and pipes on the host's side, and a script that tries them from a box."""

from __future__ import annotations

import os
import shlex
import socket
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.workspaces import give

KNOCK = """
import os, socket, stat, sys
for path in sys.argv[1:]:
    try:
        info = os.stat(path)
        if stat.S_ISFIFO(info.st_mode):
            os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), b"from the box")
        else:
            # By the directory, as a whole path may be too long for a socket's address.
            os.chdir(os.path.dirname(path))
            socket.socket(socket.AF_UNIX).connect(os.path.basename(path))
        print(path, "REACHED", flush=True)
    except OSError as err:
        print(path, err.strerror, flush=True)
"""


def knock(*paths: str) -> str:
    """Return a shell command that tries each, and always succeeds."""
    return shlex.join(("python3", "-c", KNOCK, *paths))


@dataclass
class HostDoors:
    """Doors below a directory, each with somebody behind it while this is open."""

    root: Path
    listeners: dict[str, socket.socket] = field(default_factory=dict)
    pipes: dict[str, int] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def listen(self, name: str) -> None:
        """Have a process of the host listen on a socket that everybody may use."""
        path = self._place(name)
        listener = self._stack.enter_context(socket.socket(socket.AF_UNIX))
        # By the directory, as pytest's paths are too long for a socket's address.
        fd = os.open(path.parent, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{fd}/{path.name}")
        os.close(fd)
        path.chmod(0o777)
        listener.listen()
        listener.setblocking(False)
        self.listeners[name] = listener
        give(path.parent)

    def pipe(self, name: str) -> None:
        """Have a process of the host read from a pipe that everybody may write to."""
        path = self._place(name)
        os.mkfifo(path)
        path.chmod(0o666)
        fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._stack.callback(os.close, fd)
        self.pipes[name] = fd
        give(path.parent)

    def reached(self) -> list[str]:
        """Return the doors that somebody came through since the last time."""
        found = []
        for name, listener in self.listeners.items():
            try:
                listener.accept()[0].close()
                found.append(name)
            except BlockingIOError:
                continue
        for name, fd in self.pipes.items():
            try:
                os.read(fd, 100)
                found.append(name)
            except BlockingIOError:
                continue
        return sorted(found)

    def _place(self, name: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path
