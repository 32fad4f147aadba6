"""A forked child that answers one request as the command's user, within a time limit."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import tree
from privilege import drop_for_good, leave_server

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config
    from loop import Loop

TIME_LIMIT = 30.0
"""Seconds."""
MAX_ANSWER = 15 * 1024 * 1024
_READ_SIZE = 65_536


class Worker:
    """Runs ``work`` in a child and gives its answer to ``on_end``, or an error in its place."""

    def __init__(
        self, loop: Loop, config: Config, number: int, *, time_limit: float = TIME_LIMIT
    ) -> None:
        self._loop = loop
        self._config = config
        self._mark = tree.FIRST_MARK + number
        self._answer = bytearray()
        self._timer = 0
        self._time_limit = time_limit
        self._why: str | None = None

    def start(
        self, work: Callable[[], dict[str, Any]], on_end: Callable[[dict[str, Any]], None]
    ) -> None:
        """Fork it; BlockingIOError when the box may have no more processes."""
        self._on_end = on_end
        self._pipe, write = os.pipe2(os.O_CLOEXEC)
        try:
            self.pid = os.fork()
        except OSError:
            os.close(self._pipe)
            os.close(write)
            raise
        if self.pid == 0:
            _work(self._config, self._mark, write, work)
        os.close(write)
        os.set_blocking(self._pipe, False)
        self._loop.on_readable(self._pipe, self._read)
        self._timer = self._loop.after(self._time_limit, lambda: self.end("timeout"))

    def end(self, why: str) -> None:
        """Kill it and its helpers; the answer is then an error with that code."""
        if self._why is None:
            self._why = why
            among = tree.processes()
            pids = tree.members(self.pid, self._mark, lowest=0, among=among)
            tree.send(pids, signal.SIGKILL)

    def _read(self) -> None:
        try:
            data = os.read(self._pipe, _READ_SIZE)
        except BlockingIOError:
            return
        self._answer += data
        if len(self._answer) > MAX_ANSWER:
            self.end("too_large")
            data = b""
        if not data:
            self._loop.on_readable(self._pipe, None)
            os.close(self._pipe)
            self._loop.cancel(self._timer)
            self._on_end(self._result())

    def _result(self) -> dict[str, Any]:
        if self._why == "timeout":
            return {"error": f"no answer within {self._time_limit:.0f} s", "code": "timeout"}
        if self._why is not None:
            return {"error": self._why.replace("_", " "), "code": self._why}
        try:
            answer = json.loads(self._answer)
        except ValueError:
            answer = None
        if isinstance(answer, dict):
            return answer
        return {"error": "the operation was killed, most likely for want of memory", "code": "gone"}


def _work(config: Config, mark: int, write: int, work: Callable[[], dict[str, Any]]) -> NoReturn:
    try:
        null = os.open("/dev/null", os.O_RDWR)
        # Helpers inherit standard input and output: the host's stream is not for them.
        os.dup2(null, 0)
        os.dup2(null, 1)
        leave_server(config, keep=(write,))
        drop_for_good(config, mark)
        answer = json.dumps(work()).encode()
    # Whatever happens, this copy of the server must not go on as a second server.
    except BaseException as err:  # noqa: BLE001
        # The traceback module takes longer to load than most of the server.
        sys.__excepthook__(*sys.exc_info())
        answer = json.dumps({"error": f"{type(err).__name__}: {err}", "code": "failed"}).encode()
    try:
        view = memoryview(answer)
        while view:
            view = view[os.write(write, view) :]
    finally:
        os._exit(0)
