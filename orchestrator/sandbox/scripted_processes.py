"""Background processes of the scripted box: each prints its reply, then repeats what it is told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from signal import Signals
from typing import Any

import anyio

from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import (
    Look,
    ProcessInput,
    ProcessList,
    ProcessOutput,
    ProcessRequest,
    ProcessSignal,
    ProcessStart,
)

_HARMLESS = frozenset({"USR1", "USR2", "STOP", "CONT"})


@dataclass(slots=True)
class _Process:
    command: str
    terminal: bool
    output: bytes
    exit_code: int | None = None
    signal: int | None = None
    shown: int = 0

    @property
    def running(self) -> bool:
        return self.exit_code is None and self.signal is None

    def state(self) -> dict[str, Any]:
        return {
            "running": self.running,
            "exit_code": self.exit_code,
            "signal": self.signal,
            "limit": None,
            "limit_note": None,
            "duration_ms": 0.0,
        }


class MemoryProcesses:
    """By handle; one that is to run goes on until it is told to end."""

    def __init__(self) -> None:
        """Begin with none."""
        self._processes: dict[str, _Process] = {}

    def start(self, request: ProcessStart, output: str, exit_code: int | None) -> Outcome | None:
        """Start one that prints ``output`` and ends, or runs on; return why it cannot be."""
        before = self._processes.get(request.handle)
        if before is not None and before.running:
            return Outcome(error=f"{request.handle}: it runs already", code="invalid")
        process = _Process(request.command, request.terminal, output.encode(), exit_code)
        self._processes[request.handle] = process
        return None

    async def handle(self, request: ProcessRequest) -> Outcome:
        """Do what is asked, and say what there is to see."""
        if isinstance(request, ProcessList):
            return Outcome(data={"processes": self._list()})
        process = self._processes.get(request.handle)
        if process is None:
            error = f"{request.handle}: there is no such process"
            return Outcome(error=error, code="not_found")
        if not process.running and not isinstance(request, ProcessStart | ProcessOutput):
            return Outcome(error="it has ended", code="unavailable")
        if isinstance(request, ProcessInput):
            process.output += request.text.encode()
            process.exit_code = 0 if request.eof else None
        elif isinstance(request, ProcessSignal) and request.signal not in _HARMLESS:
            process.signal = Signals[f"SIG{request.signal}"].value
        return await self._look(process, request.look)

    async def _look(self, process: _Process, look: Look) -> Outcome:
        start = min(process.shown if look.since is None else look.since, len(process.output))
        found = process.output[start:].decode("utf-8", "replace")
        why = "time"
        if look.pattern is not None and re.search(look.pattern, found, re.MULTILINE):
            why = "match"
        elif not process.running:
            why = "ended"
        elif found and look.quiet_s is not None:
            # Nothing more comes by itself, so there is no need to listen for it.
            why = "quiet"
        else:
            await anyio.sleep(look.wait_s)
        end = min(len(process.output), start + look.max_bytes)
        process.shown = end
        data = {
            "text": process.output[start:end].decode("utf-8", "replace"),
            "start": start,
            "next": end,
            "lost": 0,
            "skipped": 0,
            "more": len(process.output) - end,
            "unread": 0,
            "why": why,
            **process.state(),
        }
        return Outcome(data=data)

    def _list(self) -> list[dict[str, Any]]:
        return [
            {
                "handle": handle,
                "command": process.command,
                "terminal": process.terminal,
                "unseen": len(process.output) - process.shown,
                **process.state(),
            }
            for handle, process in self._processes.items()
        ]
