"""One program in a sealed container of its own, whose output is all that comes out of it.

For work on files that a box has written: whatever they make the program do, it does it there,
without a network, without powers, on mounts that it may only read. Everything blocks.
"""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, Any

from docker.errors import APIError, NotFound

from orchestrator.config.assets import asset
from orchestrator.engine.client import Engine
from orchestrator.engine.containers import (
    attach,
    create_container,
    remove_container,
    start_container,
)
from orchestrator.engine.failure import translated
from orchestrator.engine.labels import KIND, OWNER, SESSION, owner_label
from orchestrator.errors import EngineError
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount

PROGRAM_KIND = "program"
_HEADER = struct.Struct("!BxxxI")
"""Before each piece: which stream it belongs to, and its length."""
_STDOUT = 1
_CHUNK = 65_536
_LAST_WORDS = 4096
"""Bytes of standard error that are kept."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A program and what it may have."""

    session: SessionId
    image: str
    command: tuple[str, ...]
    mounts: tuple[Mount, ...]
    """Read-only, whatever they say themselves."""
    uid: int
    gid: int
    environment: tuple[str, ...] = ()
    """``NAME=value``; nothing of the host's is added."""
    runtime: str | None = None
    memory: int = 1024**3
    """Bytes."""
    seconds: float = 300.0
    """After these it is ended."""


@dataclass(slots=True)
class Output:
    """A running program's standard output, and what became of it once that was read."""

    pieces: Iterator[bytes]
    exit_code: int | None = None
    timed_out: bool = False
    errors: bytearray = field(default_factory=bytearray)

    @property
    def last_words(self) -> str:
        """The end of its standard error; untrusted."""
        return self.errors.decode("utf-8", "replace").strip()


@contextmanager
def run_sealed(engine: Engine, program: Sealed) -> Iterator[Output]:
    """Run a program; its pieces are read inside the block, and the container is gone after it.

    ``exit_code`` is there when the pieces have ended.
    """
    container = create_container(engine, f"glovebox-{program.session}-program", _options(program))
    with ExitStack() as stack:
        stack.callback(remove_container, engine, container)
        output = Output(iter(()))
        attachment = attach(engine, container)
        # Closed before the removal: an engine may wait for an attachment that nobody reads.
        stack.callback(attachment.close)
        attachment.socket.setblocking(True)
        stream = stack.enter_context(attachment.socket.makefile("rb"))
        start_container(engine, container)
        watchdog = threading.Timer(program.seconds, _end, (engine, container, output))
        watchdog.daemon = True
        watchdog.start()
        stack.callback(watchdog.cancel)
        output.pieces = _pieces(engine, container, stream, output)
        yield output


def _pieces(engine: Engine, container: str, stream: IO[bytes], output: Output) -> Iterator[bytes]:
    with translated("read from the sealed program"):
        while header := stream.read(_HEADER.size):
            if len(header) < _HEADER.size:
                raise EngineError("read from the sealed program: its output was cut")
            kind, left = _HEADER.unpack(header)
            while left and (piece := stream.read(min(left, _CHUNK))):
                left -= len(piece)
                if kind == _STDOUT:
                    yield piece
                else:
                    output.errors += piece
                    del output.errors[:-_LAST_WORDS]
        output.exit_code = int(engine.api.wait(container)["StatusCode"])


def _end(engine: Engine, container: str, output: Output) -> None:
    output.timed_out = True
    # It may have ended in this moment; a failure shows where the pieces are read.
    with suppress(NotFound, APIError, EngineError, OSError):
        engine.api.kill(container)


def _options(program: Sealed) -> dict[str, Any]:
    profile = json.loads((asset("sandbox-image") / "seccomp.json").read_text())
    if program.uid <= 0 or program.gid <= 0:
        raise EngineError(f"sealed program: expected a plain user, got uid {program.uid}")
    host: dict[str, Any] = {
        "Init": True,
        "LogConfig": {"Type": "none", "Config": {}},
        "Privileged": False,
        "CapDrop": ["ALL"],
        "SecurityOpt": [
            "no-new-privileges",
            f"seccomp={json.dumps(profile, separators=(',', ':'))}",
        ],
        "NetworkMode": "none",
        "IpcMode": "private",
        "ReadonlyRootfs": True,
        "PidsLimit": 64,
        "Memory": program.memory,
        "MemorySwap": program.memory,
        "NanoCpus": 2_000_000_000,
        "Tmpfs": {"/tmp": "rw,noexec,nosuid,nodev,size=64m,mode=1777"},  # noqa: S108 - in there
        "Mounts": [_mount(mount) for mount in program.mounts],
    }
    if program.runtime is not None:
        host["Runtime"] = program.runtime
    return {
        "Image": program.image,
        "Entrypoint": [program.command[0]],
        "Cmd": list(program.command[1:]),
        "User": f"{program.uid}:{program.gid}",
        "WorkingDir": "/",
        "Env": list(program.environment),
        "AttachStdout": True,
        "AttachStderr": True,
        "NetworkDisabled": True,
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": {SESSION: program.session, OWNER: owner_label(), KIND: PROGRAM_KIND},
        "HostConfig": host,
    }


def _mount(mount: Mount) -> dict[str, Any]:
    given: dict[str, Any] = {
        "Type": mount.kind,
        "Source": mount.source,
        "Target": mount.target,
        "ReadOnly": True,
    }
    if mount.kind == "volume":
        given["VolumeOptions"] = {"NoCopy": True}
    return given
