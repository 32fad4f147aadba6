"""The tool server: the box's main process, started as root with SETUID, SETGID and KILL alone.

Its standard input and output are the lifeline to the host: when the host closes its end or falls
silent, everything in the box is killed and the server exits, and the container with it. Commands
and file operations run as the session's user, who can neither signal, trace nor impersonate it.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import tree
import trust
from config import parse_config
from frames import HELLO, PING, PONG, READY, TOKEN
from link import Link
from loop import Loop
from privilege import become_subreaper
from server import Server
from spare import reserve_descriptors

if TYPE_CHECKING:
    from frames import Frame

VERSION = 4
"""Of the wire and of the hello; host and image must have the same."""
SILENCE_SECONDS = 4.0
"""Without a word of the host after which it counts as dead or stopped.

Counted in looks: time in which the box itself stood still is no silence of the host, and what the
host said meanwhile is read before the next look.
"""
LOOK_SECONDS = 0.5
FIRST_WORD_SECONDS = 30.0
"""A busy engine may be slow to pass on the first message."""
SOCKET_SECONDS = 2.0


class Lifeline:
    """The connection whose end is the end of the box."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._link = Link(loop, 0, 1)
        self._link.open(self._take, _exit)
        self._patience = FIRST_WORD_SECONDS
        self._silent_looks = 0
        self._server: Server | None = None
        loop.after(LOOK_SECONDS, self._look)

    def _take(self, frame: Frame) -> None:
        self._silent_looks = 0
        if frame.kind == PING:
            self._link.send(0, PONG)
        elif frame.kind == HELLO and self._server is None:
            self._patience = SILENCE_SECONDS
            self._greet(json.loads(frame.payload))
        elif self._server is not None:
            self._server.take(frame)

    def _look(self) -> None:
        if self._silent_looks * LOOK_SECONDS > self._patience:
            _exit("the host fell silent")
        self._silent_looks += 1
        self._loop.after(LOOK_SECONDS, self._look)

    def _greet(self, hello: dict[str, Any]) -> None:
        if hello.get("version") != VERSION:
            _exit(f"this image speaks version {VERSION}, the host {hello.get('version')!r}")
        config = parse_config(hello)
        os.environ.clear()
        trust.begin()
        server = Server(self._loop, config)
        link, problem = self._call_link(hello, server)
        server.serve(link)
        self._server = server
        ready = {"version": VERSION, "transport": "stdio" if link is self._link else "socket"}
        self._link.send(0, READY, json.dumps({**ready, "problem": problem}).encode())

    def _call_link(self, hello: dict[str, Any], server: Server) -> tuple[Link, str | None]:
        """Return the connection for calls, and why it is not the faster one."""
        path = hello.get("socket")
        if path is None:
            return self._link, None
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(SOCKET_SECONDS)
            connection.connect(str(path))
        except OSError as err:
            connection.close()
            return self._link, f"{path}: {err}"
        fd = connection.detach()
        link = Link(self._loop, fd, fd)
        link.open(server.take, _exit)
        link.send(0, TOKEN, str(hello["token"]).encode())
        return link, None


def _exit(reason: object) -> NoReturn:
    """End everything in the box; the reason goes to whoever still reads the engine's stream.

    The host takes the end of its connection as the word that nothing runs here any more.
    """
    tree.end_everything()
    tree.outlive_everything()
    os.set_blocking(2, False)
    try:
        os.write(2, f"toolserver: {reason}\n".encode())
    finally:
        os._exit(0)


def main() -> NoReturn:
    """Serve until the lifeline ends."""
    os.umask(0o022)
    os.setgroups([])
    become_subreaper()
    reserve_descriptors()
    loop = Loop()
    Lifeline(loop)
    try:
        loop.run()
    # A server that stumbles must take the box with it, not leave commands unwatched.
    except BaseException as err:  # noqa: BLE001
        sys.__excepthook__(*sys.exc_info())
        _exit(f"failed: {type(err).__name__}")
    _exit("stopped")


if __name__ == "__main__":
    main()
