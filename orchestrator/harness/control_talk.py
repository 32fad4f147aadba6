"""One caller of a session's control socket: who it is, what it may, what it opened."""

from __future__ import annotations

import socket
import struct

import anyio
from anyio.abc import TaskGroup

from orchestrator.errors import BoxError, GloveboxError
from orchestrator.harness.control_protocol import (
    ANSWER_S,
    VERSION,
    Hello,
    OpenOrder,
    ProcessRow,
    Ready,
    parse,
)
from orchestrator.harness.person import Person, PersonalAccess
from orchestrator.harness.preview import PreviewCount
from orchestrator.sandbox.driver import BoxStream, StreamRefusedError
from orchestrator.sandbox.frames import HELLO, MAX_CALLS, OPEN, READY, Frame
from orchestrator.sandbox.link import Link
from orchestrator.sandbox.served_stream import ServedStream
from orchestrator.schema.ids import SessionId
from orchestrator.schema.request import ProcessList
from orchestrator.schema.stream import TerminalSize

_CREDENTIALS = struct.Struct("3i")


def caller_of(sock: socket.socket) -> tuple[int, int]:
    """Return pid and uid of whoever connected, as the kernel tells them."""
    data = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(data)
    return pid, uid


class Talk:
    """Serves one caller until it hangs up."""

    def __init__(self, sock: socket.socket, access: PersonalAccess, *, session: SessionId) -> None:
        """Take over a connection of this user's."""
        self._socket = sock
        self._access = access
        self._session = session
        self._link = Link(sock)
        self._words: list[bytes] = []
        self._changed = anyio.Event()
        self._over = anyio.Event()
        self._hello: Hello | None = None
        self._streams: dict[int, ServedStream] = {}
        self._group: TaskGroup | None = None
        self._count = PreviewCount()

    async def serve(self) -> None:
        """Return when the caller is gone and all that it opened is closed and recorded."""
        pid, uid = caller_of(self._socket)
        try:
            async with anyio.create_task_group() as self._group:
                self._link.open(self._take, lambda _error: self._end())
                with anyio.move_on_after(ANSWER_S):
                    await self._changed.wait()
                if self._words:
                    await self._answer(Person(uid, pid, "control"))
                for stream in self._streams.values():
                    stream.drop()
        finally:
            self._link.close()
            self._socket.close()

    async def _answer(self, person: Person) -> None:
        try:
            hello = parse(Hello, self._words[0])
            if hello.version != VERSION:
                raise BoxError(
                    f"this session speaks version {VERSION} of the control socket, "
                    f"the caller {hello.version}"
                )
            self._person = Person(person.uid, person.pid, hello.via)
            processes = await self._processes() if hello.via == "processes" else None
            if hello.preview is not None:
                body = {**hello.preview.model_dump(), "who": self._person.body()}
                await self._access.note("preview_start", body)
        except GloveboxError as error:
            self._say(error.message)
            return
        self._hello = hello
        self._say(None, processes)
        try:
            await self._over.wait()
        finally:
            if hello.preview is not None:
                with anyio.CancelScope(shield=True):
                    body = {"port": hello.preview.port, **self._count.body()}
                    await self._access.note("preview_end", body)

    async def _processes(self) -> list[ProcessRow]:
        outcome = await self._access.box.execute(ProcessList())
        if outcome.error is not None:
            raise BoxError(outcome.error)
        scrub = self._access.output.scrub
        return [
            ProcessRow(
                handle=row["handle"],
                command=scrub(row["command"]),
                running=row["running"],
                exit_code=row["exit_code"],
                signal=row["signal"],
            )
            for row in outcome.data["processes"]
        ]

    def _say(self, error: str | None, processes: list[ProcessRow] | None = None) -> None:
        ready = Ready(version=VERSION, session=self._session, error=error, processes=processes)
        self._link.send(0, READY, ready.model_dump_json().encode())

    def _take(self, frame: Frame) -> None:
        if frame.call == 0 and frame.kind == HELLO and not self._words:
            self._words.append(frame.payload)
            self._changed.set()
        elif frame.kind == OPEN and self._hello is not None and self._group is not None:
            if frame.call in self._streams or len(self._streams) >= MAX_CALLS:
                raise BoxError(f"control socket: stream {frame.call} cannot be opened")
            order = parse(OpenOrder, frame.payload)
            served = ServedStream(frame.call, self._link.send, credit=order.credit)
            self._streams[frame.call] = served
            self._group.start_soon(self._serve_stream, frame.call, served, order)
        elif frame.call in self._streams:
            self._streams[frame.call].take(frame)
        elif frame.call == 0:
            raise BoxError(f"control socket: frame of kind {frame.kind}")

    async def _serve_stream(self, number: int, served: ServedStream, order: OpenOrder) -> None:
        try:
            target = await self._open(order)
            await served.relay(self._count.counted(target), half_closes=order.to.tcp is not None)
        except StreamRefusedError as error:
            self._count.refused += 1
            served.refuse(str(error))
        except GloveboxError as error:
            served.refuse(error.message)
        finally:
            self._streams.pop(number, None)

    async def _open(self, order: OpenOrder) -> BoxStream:
        """Open what the caller said in its hello that it came for, and nothing else."""
        preview = self._hello.preview if self._hello is not None else None
        terminal = order.to.terminal
        if terminal is not None and self._person.via == "attach":
            size = TerminalSize(terminal.columns, terminal.rows)
            return await self._access.open_terminal(size, self._person, command=terminal.command)
        if preview is not None and order.to.tcp == preview.port:
            return await self._access.open_port(preview.port)
        raise BoxError("control socket: the caller came for something else")

    def _end(self) -> None:
        self._changed.set()
        self._over.set()
        for stream in list(self._streams.values()):
            stream.drop()
