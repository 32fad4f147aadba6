"""The Protocols of the box: who starts and stops it, who puts a hand into it, who talks with it.

``docker_driver`` is the real one, ``scripted`` the shipped stand-in; both pass ``conformance``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from orchestrator.schema.egress import Caller
from orchestrator.schema.exec_record import OnExecs
from orchestrator.schema.ids import Digest, SessionId
from orchestrator.schema.mount import Mount
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.posture import Posture
from orchestrator.schema.request import FileRequest, Request
from orchestrator.schema.stream import StreamEnd, StreamTarget, TerminalSize
from orchestrator.schema.way_out import Incoming, WayOut

OnOutput = Callable[[str], None]
"""Called with each piece of a running command's output, decoded, in order."""


@dataclass(frozen=True, slots=True)
class BoxLimits:
    """What the box may use; all byte counts in bytes."""

    cpus: float = 2.0
    memory: int = 4 * 1024**3
    pids: int = 512
    disk: int = 10 * 1024**3
    """Bytes that may be written to workspace and tmp together, watched."""
    files: int = 180_000
    """Names that may be made or changed in the workspace, watched."""
    file_size: int = 4 * 1024**3
    """RLIMIT_FSIZE of a command."""


@dataclass(frozen=True, slots=True)
class BoxSpec:
    """Everything a box is made from; pure data, from policy and workspace."""

    session: SessionId
    image: str
    uid: int
    """Uid of every command and file operation; never 0."""
    gid: int
    workdir: str
    """The workspace's absolute path inside."""
    mounts: tuple[Mount, ...] = ()
    tmpfs: dict[str, int] = field(default_factory=lambda: {"/tmp": 1024**3})  # noqa: S108
    """Target to size in bytes."""
    limits: BoxLimits = field(default_factory=BoxLimits)
    runtime: str | None = None
    joined: bool = False
    """True where other containers are to share the box's network."""
    read_only_root: bool = True
    exec_record: bool = True
    """Every program that a command starts is recorded, where the kernel can do it."""
    read_roots: tuple[str, ...] = ()
    """Further directories that file tools may read."""
    environment: dict[str, str] = field(default_factory=dict)
    """Listed variables for commands; nothing of the host's environment is added."""
    labels: dict[str, str] = field(default_factory=dict)
    owner: str | None = None
    """Label of whose the box is, for reaping; None is this process."""


class PathRefusedError(Exception):
    """Raised by ``resolve`` for a path that can land nowhere: NUL, a loop, a file as a folder.

    The message is for the model. A path that lands outside every root is returned as it lands:
    policy refuses it by name, and the box refuses it again.
    """


class Executor(Protocol):
    """A running box. Calls may overlap; cancelling the awaiting task cancels the call."""

    async def execute(
        self,
        request: Request,
        *,
        on_output: OnOutput | None = None,
        on_execs: OnExecs | None = None,
    ) -> Outcome:
        """Run one request; raises BoxError only when the box itself fails.

        ``on_execs`` hears of every program that a command starts, and of what it left running after
        the outcome too; what came before the outcome is told before it.
        """
        ...

    async def resolve(self, request: FileRequest) -> str:
        """Return where the request's path lands, links followed, the last parts may not exist."""
        ...

    async def probe(self) -> Posture:
        """Ask from inside what the box really has."""
        ...


class StreamRefusedError(Exception):
    """Raised by ``open_stream`` where the box could not open it; the message is for a person."""


class BoxStream(Protocol):
    """Bytes to and from something in the box. One task may send while another receives."""

    async def receive(self) -> bytes:
        """Return what came next; empty when nothing more will. BoxError when the box is gone."""
        ...

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Send bytes as the box takes them, ``last`` to say that no more follow.

        What is sent to a stream that is over is dropped.
        """
        ...

    def resize(self, size: TerminalSize) -> None:
        """Tell a terminal its new size; nothing happens to other streams."""
        ...

    async def close(self) -> StreamEnd:
        """End what still runs at the other end, and return how it ended."""
        ...


class StreamOpener(Protocol):
    """A running box that can be talked to for longer than a call."""

    async def open_stream(
        self, target: StreamTarget, *, on_execs: OnExecs | None = None
    ) -> BoxStream:
        """Return a stream that is open; StreamRefusedError where there is nothing at its end.

        ``on_execs`` hears of every program that a terminal's or a program's command starts, as that
        of ``execute`` does.
        """
        ...


class Outside(Protocol):
    """What is at the host's end of the way out: a proxy, or a scripted stand-in."""

    async def serve(self, incoming: Incoming, stream: BoxStream) -> None:
        """Serve one connection of a program in the box until it is over, and close it.

        The stream's ``receive`` and ``send`` raise ConnectionResetError where the program or the
        box is gone. ``close`` after a last word is an end in order, without one the program sees
        the connection break. What this raises ends the one connection.
        """
        ...

    async def knows(self, name: str, caller: Caller | None) -> bool:
        """Say whether a name may be looked up; the box answers it itself, nothing leaves."""
        ...


class WayOpener(Protocol):
    """A running box out of which something may be let."""

    def let_out(self, way: WayOut, outside: Outside) -> AbstractAsyncContextManager[None]:
        """Give connections of programs in the box to ``outside`` while the context is entered.

        Programs that start from then on are told by their variables. Enter it before the first
        command, as a program may take a port; BoxError where one did. One context at a time.
        """
        ...


class RunningBox(Executor, StreamOpener, WayOpener, Protocol):
    """What a started box can do."""


class Lifecycle(Protocol):
    """Starts and ends boxes."""

    async def start(self, spec: BoxSpec) -> RunningBox:
        """Create and start the box; returns when its tool server is ready."""
        ...

    async def stop(self, session: SessionId, *, gone: bool = True) -> None:
        """End the session's box and return when it is gone; no box is no error.

        With ``gone`` False it returns as soon as nothing runs in the box any more, so that what it
        wrote can be read; a later stop waits for the rest.
        """
        ...

    async def image_digest(self, image: str) -> Digest:
        """Return the content digest the image name stands for; EngineError when it is missing."""
        ...

    async def reap(self) -> list[SessionId]:
        """Remove what dead harness processes left: containers and volumes, found by label."""
        ...
