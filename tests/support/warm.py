"""The command line in a process of its own, without the second that its imports take.

``run`` is ``subprocess.run`` for the command line: a real process with its own environment, directory,
streams and exit code, but forked from one that has imported everything (``warm_server``). What a cold
start alone can show (the console script, terminals, signals to a process group) is tested with
``World.start``, ``Seat`` and ``subprocess`` itself.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND_LINE = "orchestrator.cli.main"
AT_START = ("LANG", "LC_ALL", "LC_CTYPE", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONWARNINGS")
"""What an interpreter reads when it starts, too early for a forked one."""


def run(
    arguments: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    cwd: Path,
    stdin: str | None = None,
    timeout: float = 100.0,
    new_session: bool = False,
    module: str = COMMAND_LINE,
) -> subprocess.CompletedProcess[str]:
    """Run a module of ours as a program to its end, in at most ``timeout`` seconds."""
    odd = [name for name in AT_START if name in env and env[name] != os.environ.get(name)]
    assert not odd, f"{odd} need an interpreter of their own: use subprocess"
    words = [str(word) for word in arguments]
    order = {
        "module": module,
        "arguments": words,
        "env": dict(env),
        "cwd": str(cwd),
        "new_session": new_session,
    }
    their_in, our_in = _input(stdin)
    (our_out, their_out), (our_err, their_err), (our_end, their_end) = (os.pipe() for _ in range(3))
    theirs = [_file_with(order), their_in, their_out, their_err, their_end]
    _send(theirs)
    for fd in theirs:
        os.close(fd)
    with os.fdopen(our_end) as report, ThreadPoolExecutor(3) as pool:
        pid = int(report.readline())
        timer = threading.Timer(timeout, os.kill, (pid, signal.SIGKILL))
        timer.start()
        if our_in is not None:
            pool.submit(_write, our_in, stdin or "")
        said = [pool.submit(_read, fd) for fd in (our_out, our_err)]
        code = int(report.readline())
        out, err = (one.result() for one in said)
        late = not timer.is_alive()
        timer.cancel()
    if late:
        raise subprocess.TimeoutExpired(words, timeout, out, err)
    return subprocess.CompletedProcess(words, code, out, err)


def _file_with(order: dict[str, object]) -> int:
    fd = os.memfd_create("order")
    os.write(fd, json.dumps(order).encode())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _input(text: str | None) -> tuple[int, int | None]:
    """Return the program's end of its input and ours; nothing to read is no pipe."""
    return (os.open(os.devnull, os.O_RDONLY), None) if text is None else os.pipe()


def _write(fd: int, text: str) -> None:
    with os.fdopen(fd, "wb") as file:
        file.write(text.encode())


def _read(fd: int) -> str:
    with os.fdopen(fd, encoding="utf-8") as file:
        return file.read()


def _send(fds: list[int]) -> None:
    with _LOCK:
        socket.send_fds(_server(), [b"r"], fds)


_LOCK = threading.Lock()


@functools.cache
def _server() -> socket.socket:
    """Start the process that forks, once for this one; it ends when its socket closes."""
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.warm_server", str(theirs.fileno())],
        cwd=ROOT,
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
