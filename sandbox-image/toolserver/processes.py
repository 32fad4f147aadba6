"""The processes with handles: who they are, and the requests that start and use them."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

from background import Background, InputRefusedError
from command import plain_bytes
from lookout import Look, Lookout
from spare import MAX_COMMAND, Spare
from terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config
    from link import Link
    from loop import Loop
    from running import Running
    from witness import Witness

MOST_RUNNING = 16
MOST_ENDED = 16
"""Whose output is kept."""
MAX_HANDLE = 64
SHOWN_COMMAND = 200
SIGNALS = {name: signal.Signals[f"SIG{name}"] for name in ("INT", "TERM", "KILL", "HUP", "QUIT")}
SIGNALS |= {name: signal.Signals[f"SIG{name}"] for name in ("USR1", "USR2", "STOP", "CONT")}


class ProcessRefusedError(Exception):
    """Raised for a request that cannot be done; the message says why."""

    def __init__(self, message: str, code: str = "invalid") -> None:
        """Keep the error's code."""
        super().__init__(message)
        self.code = code


class Entry:
    """A process under its handle."""

    def __init__(self, process: Background, command: bytes, *, terminal: bool) -> None:
        self.process = process
        self.command = command
        self.terminal = terminal


class Processes:
    """One session's."""

    def __init__(
        self,
        loop: Loop,
        config: Config,
        *,
        answer: Callable[[int, dict[str, Any]], None],
        lowest: Callable[[], int],
        witness: Witness,
    ) -> None:
        self._witness = witness
        self._loop = loop
        self._config = config
        self._answer = answer
        self._lowest = lowest
        self._entries: dict[str, Entry] = {}
        self._lookouts: dict[int, Lookout] = {}

    def running(self) -> list[Running]:
        """Return those that have not ended."""
        return [entry.process for entry in self._entries.values() if entry.process.running]

    def holds(self, call: int) -> bool:
        """Say whether a call waits here."""
        return call in self._lookouts

    def credit(self, call: int, count: int) -> None:
        """Let the host take more of what a waiting call streams."""
        self._lookouts[call].credit(count)

    def cancel(self, call: int) -> None:
        """End the waiting, not the process."""
        self._lookouts[call].stop("cancelled")

    def take(self, call: int, request: dict[str, Any], link: Link) -> None:
        """Answer one request, at once or when what it waits for is there.

        BlockingIOError, and nothing was done, where the box may have no more processes.
        """
        kind = request.get("kind")
        try:
            if kind == "process_list":
                self._answer(call, {"data": {"processes": self._list()}})
                return
            look = Look(request["look"], int(request.get("credit", 0)))
            handle = str(request["handle"])[:MAX_HANDLE]
            if kind == "process_start":
                self._start(call, handle, request)
            entry = self._entry(handle)
            if kind == "process_input":
                _type(entry, request)
            elif kind == "process_signal":
                _signal(entry, request)
        except ProcessRefusedError as err:
            self._answer(call, {"error": str(err), "code": err.code})
        except (KeyError, TypeError, ValueError) as err:
            self._answer(call, {"error": f"{kind}: {err}", "code": "invalid"})
        else:
            lookout = Lookout(self._loop, self._config, process=entry.process, look=look, call=call)
            self._lookouts[call] = lookout
            lookout.start(link, lambda call, data: self._looked(call, handle, data))

    def _looked(self, call: int, handle: str, data: dict[str, Any]) -> None:
        self._lookouts.pop(call, None)
        if "error" in data:
            entry = self._entries.pop(handle, None)
            if entry is not None:
                entry.process.forget()
            self._answer(call, {"error": data["error"], "code": "invalid"})
        else:
            self._answer(call, {"data": data})

    def _start(self, call: int, handle: str, request: dict[str, Any]) -> None:
        command, cwd = plain_bytes(request["command"]), plain_bytes(request["cwd"])
        if len(command) > MAX_COMMAND:
            raise ProcessRefusedError(f"command of {len(command)} bytes: {MAX_COMMAND} at most")
        before = self._entries.get(handle)
        if before is not None and before.process.running:
            raise ProcessRefusedError(f"{handle}: it runs already")
        if len(self.running()) >= MOST_RUNNING:
            problem = f"{MOST_RUNNING} processes run already; end one of them"
            raise ProcessRefusedError(problem, "unavailable")
        terminal = Terminal(self._config) if request.get("terminal") else None
        process = Background(self._loop, self._config, call)
        try:
            spare = Spare(self._config, witness=self._witness, takes_input=True, terminal=terminal)
            process.start(spare, (command, cwd), self._lowest)
        except BrokenPipeError as err:
            raise ProcessRefusedError("it was killed before it began", "failed") from err
        if before is not None:
            before.process.forget()
            # Among the ended, the newest are kept.
            del self._entries[handle]
        self._entries[handle] = Entry(process, command, terminal=terminal is not None)
        process.on_end(self._tidy)

    def _tidy(self) -> None:
        """Forget the oldest of those that ended, but for whom a call waits."""
        ended = [handle for handle, entry in self._entries.items() if not entry.process.running]
        for handle in ended[:-MOST_ENDED]:
            if not self._entries[handle].process.on_change:
                self._entries.pop(handle).process.forget()

    def _entry(self, handle: str) -> Entry:
        entry = self._entries.get(handle)
        if entry is None:
            raise ProcessRefusedError(f"{handle}: there is no such process", "not_found")
        return entry

    def _list(self) -> list[dict[str, Any]]:
        return [
            {
                "handle": handle,
                "command": entry.command.decode("utf-8", "replace")[:SHOWN_COMMAND],
                "terminal": entry.terminal,
                "unseen": entry.process.ring.end - entry.process.shown,
                **entry.process.state(),
            }
            for handle, entry in self._entries.items()
        ]


def _type(entry: Entry, request: dict[str, Any]) -> None:
    data = str(request["text"]).encode("utf-8", "surrogateescape")
    if entry.terminal:
        # What the key sends.
        data = data.replace(b"\n", b"\r")
    try:
        entry.process.write(data, end=bool(request.get("eof")))
    except InputRefusedError as err:
        raise ProcessRefusedError(str(err), "unavailable") from err


def _signal(entry: Entry, request: dict[str, Any]) -> None:
    number = SIGNALS.get(str(request["signal"]))
    if number is None:
        raise ProcessRefusedError(f"signal {request['signal']!r}: one of {', '.join(SIGNALS)}")
    if not entry.process.signal(number):
        raise ProcessRefusedError("nothing of it runs any more", "gone")
