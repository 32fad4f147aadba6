"""A container in which an image's steps are taken, and the image that is made of it."""

from __future__ import annotations

import codecs
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio import to_thread

from orchestrator.engine.archives import Still
from orchestrator.engine.attachment import plain_socket
from orchestrator.engine.base_image import present_image
from orchestrator.engine.client import Engine
from orchestrator.engine.containers import (
    attach,
    create_container,
    remove_container,
    start_container,
)
from orchestrator.engine.failure import translated
from orchestrator.errors import EngineError
from orchestrator.sandbox.preparer_spec import PreparerSpec, preparer_options
from orchestrator.schema.ids import Digest

LAST_WORDS = 20
"""Lines that are shown of a step that failed."""
MOST_CHANGED = 500_000
MOST_READ = 4 * 1024**2
"""Bytes of a changed file that is looked into."""
_LINE = 2000

OnLine = Callable[[str], None]
"""Called, from a thread, with each line that a step prints, raw."""


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How a step ended."""

    exit_code: int
    last_words: str
    """Raw."""


class Preparer:
    """A running container; of one task at a time."""

    def __init__(self, engine: Engine, spec: PreparerSpec, container: str) -> None:
        """Use a started container; ``preparing`` makes one."""
        self._engine = engine
        self._spec = spec
        self.container = container

    async def step(
        self, command: str, *, environment: Mapping[str, str], on_line: OnLine, seconds: float
    ) -> StepEnd:
        """Run a command line with the image's ``/bin/sh``, as root.

        TimeoutError after ``seconds``: it may go on then, until the container is removed.
        """
        with anyio.fail_after(seconds):
            return await to_thread.run_sync(
                lambda: self._step(command, environment, on_line), abandon_on_cancel=True
            )

    async def file(self, path: str) -> bytes:
        """Return a regular file's beginning; empty for anything else, and for one that is too large."""

        def read() -> bytes:
            try:
                return Still(self._engine, self.container).file(path, most=MOST_READ)
            except EngineError:
                return b""

        return await to_thread.run_sync(read)

    async def changed(self) -> list[str]:
        """Return the paths that differ from the image, but those that are gone."""

        def look() -> list[str]:
            with translated("see what the steps changed"):
                found = self._engine.api.diff(self.container) or []
            return [str(row["Path"]) for row in found[:MOST_CHANGED] if row["Kind"] != _DELETED]

        return await to_thread.run_sync(look)

    async def commit(self, name: str, labels: Mapping[str, str]) -> Digest:
        """Make an image of it as it is now, with the settings of the image it came from."""
        return await to_thread.run_sync(lambda: self._commit(name, labels))

    def _step(self, command: str, environment: Mapping[str, str], on_line: OnLine) -> StepEnd:
        api, lines = self._engine.api, _Lines(on_line)
        with translated("take a step on the image"):
            made = api.exec_create(
                self.container,
                ["/bin/sh", "-c", command],
                user="0:0",
                environment=dict(environment),
                workdir="/",
            )
            held = plain_socket(api.exec_start(made["Id"], socket=True))
            try:
                for chunk in _chunks(held.socket):
                    lines.add(chunk)
            finally:
                held.close()
            ended = api.exec_inspect(made["Id"])
        lines.end()
        code = ended.get("ExitCode")
        if not isinstance(code, int):
            raise EngineError("take a step on the image: the engine does not say how it ended")
        return StepEnd(code, "\n".join(lines.last))

    def _commit(self, name: str, labels: Mapping[str, str]) -> Digest:
        repository, _, tag = name.rpartition(":")
        config = (present_image(self._engine, self._spec.image) or {}).get("Config") or {}
        own = {**dict.fromkeys(self._spec.marks, ""), **labels}
        environment = list(config.get("Env") or ())
        with translated(f"save {name}"):
            made = self._engine.api.commit(
                self.container,
                repository=repository,
                tag=tag,
                conf={**config, "Labels": {**(config.get("Labels") or {}), **own}},
            )
        found = present_image(self._engine, name) or {}
        kept = list((found.get("Config") or {}).get("Env") or ())
        if found.get("Id") != made["Id"] or kept != environment:
            with translated(f"remove {name}"):
                self._engine.api.remove_image(made["Id"], force=True)
            raise EngineError(f"save {name}: the engine gave it other settings than its image has")
        return Digest(made["Id"])


_DELETED = 2
_FRAME = 8


def _chunks(sock: socket.socket) -> Iterator[bytes]:
    """Give what the engine's frames hold: each a kind, three bytes of nothing, and a length."""
    sock.setblocking(True)
    with sock.makefile("rb") as file:
        while len(head := file.read(_FRAME)) == _FRAME:
            yield file.read(int.from_bytes(head[4:], "big"))


class _Lines:
    def __init__(self, on_line: OnLine) -> None:
        self.last: deque[str] = deque(maxlen=LAST_WORDS)
        self._on_line = on_line
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""

    def add(self, chunk: bytes) -> None:
        *whole, self._rest = (self._rest + self._decode(chunk)).split("\n")
        self._rest = self._rest[-_LINE:]
        for line in whole:
            self._tell(line)

    def end(self) -> None:
        self._tell(self._rest)

    def _tell(self, line: str) -> None:
        # Progress bars go over their line again and again.
        shown = line.rstrip("\r").rpartition("\r")[2][-_LINE:]
        if shown.strip():
            self.last.append(shown)
            self._on_line(shown)


@asynccontextmanager
async def preparing(engine: Engine, spec: PreparerSpec) -> AsyncIterator[Preparer]:
    """Give a running container of the image; whatever happens, it is gone at the end.

    EngineError where the image has no ``/bin/sh``.
    """
    name = f"glovebox-{spec.session}-prepare"
    container = await to_thread.run_sync(
        lambda: create_container(engine, name, preparer_options(spec))
    )
    held = None
    try:
        held = await to_thread.run_sync(attach, engine, container)
        await to_thread.run_sync(start_container, engine, container)
        yield Preparer(engine, spec, container)
    finally:
        with anyio.CancelScope(shield=True):
            if held is not None:
                held.close()
            await to_thread.run_sync(remove_container, engine, container)
