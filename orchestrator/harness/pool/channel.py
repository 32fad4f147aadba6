"""The pool's door: a private socket for this user alone, one question and one answer each time."""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from anyio import to_thread

from orchestrator.errors import BoxError
from orchestrator.harness.pool.offer import DESCRIPTORS, Offer, pack, unpack
from orchestrator.sandbox.runtime_dir import listen_at, private_directory, runtime_root
from orchestrator.schema.ids import Digest

ANSWER_S = 1.0
"""A session does not wait longer for a pool; a pool that is alive answers in a thousandth."""
MAX_MESSAGE = 128 * 1024

_CREDENTIALS = struct.Struct("3i")


def pool_directory(environ: Mapping[str, str]) -> Path:
    """Return the private directory of this user's pools; made where it lacks."""
    root = runtime_root(environ, os.geteuid())
    private_directory(root)
    directory = root / "pool"
    private_directory(directory)
    return directory


def socket_path(directory: Path, pool: str) -> Path:
    """Return where a pool listens."""
    return directory / f"{pool}.sock"


def listen(path: Path) -> socket.socket:
    """Listen there, in the place of a pool that died; whoever calls this holds the pool's lock."""
    path.unlink(missing_ok=True)
    return listen_at(path, mode=0o600, backlog=8, kind=socket.SOCK_SEQPACKET)


def is_ours(peer: socket.socket) -> bool:
    """Say whether the process at the other end is this user's."""
    found = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(found)
    return bool(uid == os.geteuid())


def ask(path: Path, question: Mapping[str, Any]) -> tuple[bytes, list[int]] | None:
    """Put one question to a pool; None where none listens. Blocks for ``ANSWER_S`` at most."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.settimeout(ANSWER_S)
        try:
            sock.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        if not is_ours(sock):
            raise BoxError(f"pool: {path} is another user's")
        sock.send(json.dumps(dict(question)).encode())
        return _received(sock)


def _received(sock: socket.socket) -> tuple[bytes, list[int]]:
    """Return one message and its descriptors, which no program started meanwhile inherits.

    ``socket.recv_fds`` takes flags and passes none on.
    """
    found = array.array("i")
    room = socket.CMSG_SPACE(DESCRIPTORS * found.itemsize)
    data, ancillary, _, _ = sock.recvmsg(MAX_MESSAGE, room, socket.MSG_CMSG_CLOEXEC)
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            found.frombytes(content[: len(content) - len(content) % found.itemsize])
    return data, list(found)


def answer(sock: socket.socket, reply: Offer | Mapping[str, Any]) -> None:
    """Send one answer; OSError where the other end has gone."""
    if isinstance(reply, Offer):
        note, descriptors = pack(reply)
        socket.send_fds(sock, [note], descriptors)
    else:
        sock.send(json.dumps(dict(reply)).encode())


class RemotePool:
    """A pool in a process of its own, as a source of boxes."""

    def __init__(self, path: Path) -> None:
        """``path`` is where it listens."""
        self._path = path

    async def take(self, key: Digest) -> Offer | str:
        """Return a box that was made under this key, or why there is none."""
        return await to_thread.run_sync(lambda: self._take(key))

    def _take(self, key: Digest) -> Offer | str:
        try:
            got = ask(self._path, {"do": "take", "key": key})
        except OSError as err:
            return f"the pool does not answer ({err.strerror or err})"
        if got is None:
            return "no pool runs"
        data, descriptors = got
        if descriptors:
            return unpack(data, descriptors)
        return refusal(data)


def refusal(data: bytes) -> str:
    """Return why a pool gave nothing."""
    with suppress(ValueError, AttributeError):
        return str(json.loads(data).get("none", ""))[:200] or "the pool did not say why"
    return "the pool's answer does not fit this version"
