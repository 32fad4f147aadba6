"""What any box must do with its way out; part of ``conformance``."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

from orchestrator.sandbox.driver import BoxStream, RunningBox
from orchestrator.schema.egress import Caller
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import ExecRequest
from orchestrator.schema.way_out import Incoming, WayOut

LEAVE = "exec 3<>/dev/tcp/127.0.0.1/3128 && echo hello >&3 && cat <&3"
"""Says a word to the proxy and prints what comes back."""


@dataclass
class Echo:
    """An Outside that says a line back, or fails instead."""

    failure: Exception | None = None
    doors: list[str] = field(default_factory=list)

    async def serve(self, incoming: Incoming, stream: BoxStream) -> None:
        """Say back what comes up to the end of a line."""
        self.doors.append(incoming.door)
        if self.failure is not None:
            raise self.failure
        line = b""
        while not line.endswith(b"\n"):
            line += await stream.receive()
        await stream.send(b"heard " + line, last=True)
        await stream.close()

    async def knows(self, name: str, caller: Caller | None) -> bool:  # noqa: ARG002
        """Know nothing."""
        return False


async def _leave(box: RunningBox, workdir: str) -> Outcome:
    return await box.execute(ExecRequest(LEAVE, workdir, 20.0))


async def check_open(box: RunningBox, workdir: str) -> None:
    """Several programs at a time are answered, and before and after it there is no way out."""
    outside, found = Echo(), []

    async def leave() -> None:
        found.append((await _leave(box, workdir)).data["head"])

    async with box.let_out(WayOut(certificates=""), outside), anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(leave)
    expect(found, ["heard hello\n"] * 5, "answers")
    expect(outside.doors, ["proxy"] * 5, "doors")
    shut = await _leave(box, workdir)
    expect(shut.data["exit_code"] != 0, True, "a way out after it was shut")
    async with box.let_out(WayOut(certificates=""), Echo()):
        again = await _leave(box, workdir)
    expect(again.data["head"], "heard hello\n", "answer after it was opened again")


async def check_failure(box: RunningBox, workdir: str) -> None:
    """What fails outside ends the one connection, and the box goes on."""
    outside = Echo(ConnectionResetError("gone"))
    async with box.let_out(WayOut(certificates=""), outside):
        cut = await _leave(box, workdir)
        outside.failure = None
        whole = await _leave(box, workdir)
    expect("heard" in str(cut.data["head"]), False, "an answer where none was given")
    expect(whole.data["head"], "heard hello\n", "the next answer")


def expect(found: object, wanted: object, what: str) -> None:
    """Raise where what was found is not what is wanted."""
    if found != wanted:
        raise AssertionError(f"{what}: expected {wanted!r}, got {found!r}")
