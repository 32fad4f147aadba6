"""The shipped stand-in for a box: replies from a table, files in memory, no engine.

It keeps the contract of ``driver`` and passes ``conformance``, so that loop, dispatcher and user
tests need no container. It runs nothing, and is no sandbox.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

import anyio
from anyio import lowlevel

from orchestrator.errors import BoxError, EngineError, ScriptError
from orchestrator.sandbox.driver import (
    BoxSpec,
    BoxStream,
    OnOutput,
    Outside,
    PathRefusedError,
    StreamRefusedError,
)
from orchestrator.sandbox.scripted_files import MemoryFiles
from orchestrator.sandbox.scripted_processes import MemoryProcesses
from orchestrator.sandbox.scripted_stream import ScriptedStream
from orchestrator.sandbox.scripted_way import ScriptedWay
from orchestrator.schema.exec_record import ExecReport, ExecSeen, OnExecs
from orchestrator.schema.ids import Digest, SessionId, digest_of
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.posture import CONTROLS, Posture
from orchestrator.schema.request import ExecRequest, FileRequest, ProcessStart, Request
from orchestrator.schema.stream import ProgramTarget, StreamTarget, TcpTarget
from orchestrator.schema.way_out import WayOut


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command does in the scripted box."""

    output: str = ""
    exit_code: int = 0
    seconds: float = 0.0
    """How long it runs; a shorter time-out ends it."""
    failure: BoxError | None = None
    """Raised in place of an outcome: the box is gone."""
    execs: tuple[tuple[str, ...], ...] = ()
    """Arguments of the programs that it starts, the program's name first."""
    echoes: bool = False
    """On a terminal or in the background: gives back what is typed, and ends at Ctrl-D."""
    leaves: bytes = b""
    """Sent to the way out's proxy; what comes back is added to its output. Fails while it is shut."""


def exec_outcome(output: str = "", exit_code: int | None = 0, **more: object) -> Outcome:
    """Return a command's outcome with every field that the real box would give."""
    data: dict[str, object] = {
        "exit_code": exit_code,
        "signal": None,
        "timed_out": False,
        "cancelled": False,
        "head": output,
        "tail": "",
        "total_bytes": len(output.encode()),
        "total_lines": len(output.splitlines()),
        "spill": None,
        "duration_ms": 0.0,
        "limit": None,
        "limit_note": None,
        "full": None,
    }
    return Outcome(data={**data, **more})


def _report(reply: Reply) -> ExecReport:
    return ExecReport(
        tuple(
            ExecSeen(
                pid, parent=1, path=f"/usr/bin/{argv[0]}", argv=argv, real=f"/usr/bin/{argv[0]}"
            )
            for pid, argv in enumerate(reply.execs, start=2)
        ),
        last=True,
    )


class ScriptedBox:
    """An Executor whose commands do what a table says; ``requests`` holds what was executed."""

    def __init__(
        self,
        commands: Mapping[str, Reply] | None = None,
        *,
        files: Mapping[str, str] | None = None,
        workdir: str = "/workspace",
        posture: Posture | None = None,
        ports: Mapping[int, bytes] | None = None,
    ) -> None:
        """Commands are matched whole; one that is not in the table ends the run.

        A server on one of ``ports`` says its bytes to whoever connects, and hangs up.
        """
        self._ports = dict(ports or {})
        self._commands = dict(commands or {})
        self._files = MemoryFiles(dict(files or {}), root=workdir)
        self._posture = posture or Posture(controls=dict.fromkeys(CONTROLS, True))
        self._processes = MemoryProcesses()
        self._stopped = False
        self.requests: list[Request] = []
        self.streams: list[ScriptedStream] = []
        self.way_out = ScriptedWay()
        """Where tests play the programs that want to leave the box."""

    @property
    def files(self) -> dict[str, str]:
        """Return the files as they are now, by absolute path."""
        return self._files.files

    async def execute(
        self,
        request: Request,
        *,
        on_output: OnOutput | None = None,
        on_execs: OnExecs | None = None,
    ) -> Outcome:
        """Answer one request."""
        self._check_running()
        self.requests.append(request)
        await lowlevel.checkpoint()
        if isinstance(request, ExecRequest):
            return await self._run(request, on_output, on_execs)
        if isinstance(request, FileRequest):
            return self._files.handle(request)
        if isinstance(request, ProcessStart):
            reply = self._reply(request.command)
            ended = None if reply.seconds or reply.echoes else reply.exit_code
            problem = self._processes.start(request, reply.output, ended)
            if problem is not None:
                return problem
        return await self._processes.handle(request)

    async def resolve(self, request: FileRequest) -> str:
        """Return the normal form of the path: there are no links here."""
        self._check_running()
        await lowlevel.checkpoint()
        if "\0" in request.path:
            raise PathRefusedError(f"path {request.path!a}: must not contain NUL")
        return posixpath.normpath(request.path)

    async def probe(self) -> Posture:
        """Return the posture it was given: all controls, unless a test says otherwise."""
        self._check_running()
        await lowlevel.checkpoint()
        return self._posture

    async def open_stream(
        self, target: StreamTarget, *, on_execs: OnExecs | None = None
    ) -> BoxStream:
        """Return a terminal or pipes whose command does what the table says, or a server's words."""
        self._check_running()
        await lowlevel.checkpoint()
        if isinstance(target, TcpTarget):
            if target.port not in self._ports:
                raise StreamRefusedError(f"port {target.port} of the box: connection refused")
            stream = ScriptedStream(self._ports[target.port])
        else:
            reply = self._reply(target.command or "bash")
            stream = ScriptedStream(
                reply.output.encode(),
                exit_code=reply.exit_code,
                lasts=reply.echoes or reply.seconds > 0,
                echoes=reply.echoes,
                pipes=isinstance(target, ProgramTarget),
            )
            if on_execs is not None and on_execs(_report(reply)):
                await stream.close()
        self.streams.append(stream)
        return stream

    def let_out(self, way: WayOut, outside: Outside) -> AbstractAsyncContextManager[None]:
        """Give what ``way_out`` is made to play to ``outside`` while the context is entered."""
        self._check_running()
        return self.way_out.open(way, outside)

    def stop(self) -> None:
        """Fail every later call, and every stream."""
        self._stopped = True
        for stream in self.streams:
            stream.fail(BoxError("box: it was stopped"))

    async def _run(
        self, request: ExecRequest, on_output: OnOutput | None, on_execs: OnExecs | None
    ) -> Outcome:
        reply = self._reply(request.command)
        if on_execs is not None and on_execs(_report(reply)):
            return exec_outcome(exit_code=None, signal=9, limit="policy")
        try:
            answer = await self.way_out.converse(reply.leaves) if reply.leaves else b""
        except OSError as err:
            return exec_outcome(f"{err}\n", exit_code=1)
        output = reply.output + answer.decode("utf-8", "replace")
        await anyio.sleep(min(reply.seconds, request.timeout_s))
        if reply.seconds > request.timeout_s:
            return exec_outcome(exit_code=None, signal=15, timed_out=True)
        if on_output is not None and output:
            on_output(output)
        return exec_outcome(output, reply.exit_code)

    def _reply(self, command: str) -> Reply:
        reply = self._commands.get(command)
        if reply is None:
            raise ScriptError(
                f"scripted box: no reply for the command {command!r}",
                hint=f"known: {', '.join(sorted(self._commands)) or 'none'}",
            )
        if reply.failure is not None:
            raise reply.failure
        return reply

    def _check_running(self) -> None:
        if self._stopped:
            raise BoxError("box: it was stopped")


@dataclass(slots=True)
class ScriptedLifecycle:
    """A Lifecycle that hands out one scripted box a session."""

    commands: Mapping[str, Reply] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    images: tuple[str, ...] = ("scripted",)
    boxes: dict[SessionId, ScriptedBox] = field(default_factory=dict)
    left_behind: list[SessionId] = field(default_factory=list)
    """What ``reap`` is to find."""

    async def start(self, spec: BoxSpec) -> ScriptedBox:
        """Make a box with a copy of the files."""
        await self.image_digest(spec.image)
        if spec.session in self.boxes:
            raise EngineError(f"session {spec.session}: has a box already")
        box = ScriptedBox(self.commands, files=self.files, workdir=spec.workdir)
        self.boxes[spec.session] = box
        return box

    async def stop(self, session: SessionId, *, gone: bool = True) -> None:  # noqa: ARG002
        """End the session's box; no box is no error, and an ended one is gone at once."""
        await lowlevel.checkpoint()
        box = self.boxes.pop(session, None)
        if box is not None:
            box.stop()

    async def image_digest(self, image: str) -> Digest:
        """Return a digest of the name; EngineError for an image that is not listed."""
        await lowlevel.checkpoint()
        if image not in self.images:
            raise EngineError(f"image {image}: the engine does not have it")
        return digest_of(image.encode())

    async def reap(self) -> list[SessionId]:
        """Return what was left behind, once."""
        await lowlevel.checkpoint()
        found, self.left_behind = self.left_behind, []
        return found
