"""Runs Python modules as programs, each in a process of its own that was forked from this one.

``python -m tests.support.warm_server FD``: this process has imported the whole command line once, and
that is all it does before it forks. A request arrives on the socket FD as four descriptors: what to
run, as JSON, then stdin, stdout, stderr, and a fifth that is told the process's id, and its end.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import runpy
import socket
import sys
import tempfile
import threading
from typing import Any

from orchestrator.cli.app import COMMANDS, load_command


def main(fd: int) -> None:
    """Answer requests until the other end closes; returns in forked processes too, when they end."""
    for name in COMMANDS:
        load_command(name)
    # What an import leaves behind must not reach the programs: they are to find a fresh process.
    assert threading.active_count() == 1
    assert tempfile.tempdir is None
    gc.freeze()
    with socket.socket(fileno=fd) as requests:
        while True:
            _, fds, _, _ = socket.recv_fds(requests, 1, 5)
            _reap(0 if not fds else os.WNOHANG)
            if not fds:
                return
            if os.fork() == 0:
                break
            for given in fds:
                os.close(given)
    _keep(fds)


def _keep(fds: list[int]) -> None:
    """Run one program in a child; say how it ended."""
    order, *streams, report = fds
    with os.fdopen(order, "rb") as file:
        wanted: dict[str, Any] = json.load(file)
    pid = os.fork()
    if pid == 0:
        os.close(report)
        _become(wanted, streams)
        runpy.run_module(wanted["module"], run_name="__main__", alter_sys=True)
        return
    for given in (*streams, 0, 1, 2):
        os.close(given)
    os.write(report, f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    os.write(report, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _reap(options: int) -> None:
    """Take note of keepers that ended, so that their time counts as this process's."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, options)[0]:
            pass


def _become(wanted: dict[str, Any], streams: list[int]) -> None:
    """Take on the surroundings that the program was given."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # Those of the server know of its own files: whether one can be sought in, and where it stands.
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    if wanted["new_session"]:
        os.setsid()
    os.environ.clear()
    os.environ.update(wanted["env"])
    os.chdir(wanted["cwd"])
    sys.argv = [wanted["module"], *wanted["arguments"]]


if __name__ == "__main__":
    main(int(sys.argv[1]))
