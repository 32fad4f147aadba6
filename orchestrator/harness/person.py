"""What a person does in a box beside the agent: not judged, but recorded as theirs."""

from __future__ import annotations

import os
import pwd
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from orchestrator.dispatch.output import OutputFilter
from orchestrator.dispatch.records import AuditSink
from orchestrator.harness.box_spec import WORKDIR
from orchestrator.sandbox.driver import BoxStream, RunningBox
from orchestrator.schema.exec_record import OnExecs
from orchestrator.schema.stream import StreamEnd, TcpTarget, TerminalSize, TerminalTarget
from orchestrator.terminal.recording import Recording


@dataclass(frozen=True, slots=True)
class Person:
    """Who asked, as the kernel tells it."""

    uid: int
    pid: int
    via: str
    """The command that was used."""

    @classmethod
    def here(cls, via: str) -> Person:
        """Return who runs this process."""
        return cls(os.geteuid(), os.getpid(), via)

    def body(self) -> dict[str, Any]:
        """Return it as audit data."""
        user = ""
        with suppress(KeyError):
            user = pwd.getpwuid(self.uid).pw_name
        return {"uid": self.uid, "user": user, "pid": self.pid, "via": self.via}


@dataclass(slots=True)
class PersonalAccess:
    """One session's terminals and ports, for whoever may have them."""

    box: RunningBox
    audit: AuditSink
    output: OutputFilter
    recordings: Path
    """Folder of this session's recordings; made with the first."""
    _opened: int = field(default=0, init=False)

    async def open_terminal(
        self,
        size: TerminalSize,
        person: Person,
        *,
        command: str | None = None,
        on_execs: OnExecs | None = None,
    ) -> BoxStream:
        """Return a terminal that is recorded; without a record of its start there is none.

        ``on_execs`` hears of every program that is started on it.
        """
        self._opened += 1
        name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.getpid()}-{self._opened}"
        path = self.recordings / f"{name}.cast"
        body = {
            "terminal": name,
            "who": person.body(),
            "command": command,
            "columns": size.columns,
            "rows": size.rows,
            "recording": str(path),
        }
        await self.note("terminal_start", body)
        try:
            recording = Recording(
                path, size, redact=self.output.stream, title=f"glovebox {person.via}"
            )
            try:
                target = TerminalTarget(size, WORKDIR, command)
                stream = await self.box.open_stream(target, on_execs=on_execs)
            except BaseException:
                recording.close()
                raise
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                await self.note("terminal_end", {"terminal": name, "failed": type(error).__name__})
            raise
        return RecordedTerminal(stream, recording, self, name=name)

    async def open_port(self, port: int) -> BoxStream:
        """Return a connection to a server in the box; the preview it is for is recorded."""
        return await self.box.open_stream(TcpTarget(port))

    async def note(self, kind: str, body: Mapping[str, Any]) -> None:
        """Write one audit record; AuditUnavailable where that cannot be done."""
        await to_thread.run_sync(lambda: self.audit.append(kind, self.output.scrub_data(body)))


class RecordedTerminal:
    """A BoxStream that leaves a recording, and a record of its end."""

    def __init__(
        self, stream: BoxStream, recording: Recording, access: PersonalAccess, *, name: str
    ) -> None:
        """Take over an open stream and recording."""
        self._stream = stream
        self._recording = recording
        self._access = access
        self._name = name
        self._began = time.monotonic()
        self._shown = self._typed = 0
        self._end: StreamEnd | None = None

    async def receive(self) -> bytes:
        """Return what came next, once it is recorded; AuditUnavailable where it cannot be."""
        data = await self._stream.receive()
        self._shown += len(data)
        self._recording.feed(data)
        return data

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Send what is typed; only what the box shows of it is recorded."""
        self._typed += len(data)
        await self._stream.send(data, last=last)

    def resize(self, size: TerminalSize) -> None:
        """Tell the box and the recording the new size."""
        self._recording.resize(size)
        self._stream.resize(size)

    async def close(self) -> StreamEnd:
        """End it, and record the end."""
        if self._end is not None:
            return self._end
        with anyio.CancelScope(shield=True):
            end = self._end = await self._stream.close()
            try:
                self._recording.close()
            finally:
                await self._access.note("terminal_end", self._body(end))
        return end

    def _body(self, end: StreamEnd) -> dict[str, Any]:
        return {
            "terminal": self._name,
            "exit_code": end.exit_code,
            "signal": end.signal,
            "reason": end.reason,
            "bytes_shown": self._shown,
            "bytes_typed": self._typed,
            "duration_ms": round((time.monotonic() - self._began) * 1000),
            "recording_complete": self._recording.complete,
        }
