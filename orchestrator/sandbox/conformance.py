"""What any Lifecycle and its boxes must do; the real and the scripted one pass the same checks.

Each check takes a running Subject and raises AssertionError with what it saw. ``COMMANDS`` is what
a scripted box must know to be checked; the same command lines mean the same to bash.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from orchestrator.errors import BoxError, EngineError
from orchestrator.sandbox.driver import (
    BoxSpec,
    BoxStream,
    Lifecycle,
    PathRefusedError,
    RunningBox,
    StreamRefusedError,
)
from orchestrator.sandbox.pieces import Pieces
from orchestrator.sandbox.scripted import Reply
from orchestrator.sandbox.way_conformance import LEAVE, check_failure, check_open, expect
from orchestrator.schema.exec_record import ExecReport
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.posture import CONTROLS
from orchestrator.schema.request import (
    EditRequest,
    ExecRequest,
    FindRequest,
    GrepRequest,
    ListRequest,
    Look,
    ProcessInput,
    ProcessList,
    ProcessOutput,
    ProcessSignal,
    ProcessStart,
    ReadRequest,
    Replacement,
    WriteRequest,
)
from orchestrator.schema.stream import (
    ProgramTarget,
    TcpTarget,
    TerminalSize,
    TerminalTarget,
)

COMMANDS = {
    "echo hello": Reply("hello\n"),
    "echo hüll; exit 3": Reply("hüll\n", exit_code=3),
    "sleep 0.3": Reply(seconds=0.3),
    "sleep 30": Reply(seconds=30.0),
    "cat": Reply(echoes=True, execs=(("cat",),)),
    "echo ready; cat": Reply("ready\n", echoes=True),
    LEAVE: Reply(leaves=b"hello\n"),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What is checked."""

    lifecycle: Lifecycle
    spec: BoxSpec
    box: RunningBox

    async def run(self, command: str, timeout_s: float = 20.0) -> Outcome:
        """Run a command in the workspace."""
        return await self.box.execute(ExecRequest(command, self.spec.workdir, timeout_s))

    async def terminal(self, command: str) -> BoxStream:
        """Open a terminal with a command on it."""
        return await self.box.open_stream(
            TerminalTarget(TerminalSize(), self.spec.workdir, command)
        )

    def path(self, name: str) -> str:
        """Return the path of a name in the workspace."""
        return f"{self.spec.workdir}/{name}"


async def read_all(stream: BoxStream) -> bytes:
    """Return all that is still to come."""
    whole = b""
    while piece := await stream.receive():
        whole += piece
    return whole


async def check_commands(subject: Subject) -> None:
    """A command's output and exit code come back."""
    plain = await subject.run("echo hello")
    expect((plain.data["head"], plain.data["exit_code"]), ("hello\n", 0), "echo")
    failed = await subject.run("echo hüll; exit 3")
    expect((failed.data["head"], failed.data["exit_code"]), ("hüll\n", 3), "exit 3")
    expect(failed.error, None, "a command that fails is no failure of the box")


async def check_streaming(subject: Subject) -> None:
    """What ``on_output`` is given adds up to the output."""
    pieces: list[str] = []
    request = ExecRequest("echo hüll; exit 3", subject.spec.workdir, 20.0)
    outcome = await subject.box.execute(request, on_output=pieces.append)
    expect("".join(pieces), "hüll\n", "streamed")
    expect(outcome.data["head"], "hüll\n", "kept")


async def check_time_out(subject: Subject) -> None:
    """A command that runs too long is ended and said to be."""
    outcome = await subject.run("sleep 30", timeout_s=0.3)
    expect((outcome.data["timed_out"], outcome.data["exit_code"]), (True, None), "time-out")


async def check_cancellation(subject: Subject) -> None:
    """Cancelling the caller ends the command, and the box goes on."""
    began = time.monotonic()
    with anyio.move_on_after(0.3) as scope:
        await subject.run("sleep 30")
    expect(scope.cancelled_caught, True, "cancelled")
    if time.monotonic() - began > 10:
        raise AssertionError("cancellation waited for the command")
    await check_commands(subject)


async def check_overlap(subject: Subject) -> None:
    """Calls run at the same time."""
    began = time.monotonic()
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(subject.run, "sleep 0.3")
    if time.monotonic() - began > 1.4:
        raise AssertionError("five sleeps of 0.3 s took the time of five in a row")


async def check_files(subject: Subject) -> None:
    """What is written is read, found, searched, listed and edited."""
    box, path = subject.box, subject.path("dir/note.txt")
    written = await box.execute(WriteRequest(path, "one\ntwo\n"))
    expect((written.data["created"], written.data["bytes"]), (True, 8), "write")
    read = await box.execute(ReadRequest(path, offset=2))
    expect((read.data["text"], read.data["start"]), ("two", 2), "read")
    edited = await box.execute(EditRequest(path, (Replacement("two", "three"),)))
    expect((edited.data["replacements"], edited.data["lines"]), (1, [2]), "edit")
    found = await box.execute(GrepRequest("^thr", subject.spec.workdir))
    expect([(m["line"], m["text"]) for m in found.data["matches"]], [(2, "three")], "grep")
    listed = await box.execute(ListRequest(subject.path("dir")))
    expect([(e["name"], e["type"]) for e in listed.data["entries"]], [("note.txt", "file")], "ls")
    paths = await box.execute(FindRequest("*.txt", subject.spec.workdir))
    expect(list(paths.data["paths"]), ["dir/note.txt"], "find")


async def check_processes(subject: Subject) -> None:
    """A process outlives its call, takes input, is waited for, ended and listed."""
    box, look = subject.box, Look(wait_s=20.0, pattern="^[a-z]+$")
    start = ProcessStart("echo ready; cat", subject.spec.workdir, "cat", look=look)
    began = await box.execute(start)
    expect((began.data["text"], began.data["why"]), ("ready\n", "match"), "start")
    again = await box.execute(start)
    expect(again.code, "invalid", "start of what runs")
    told = await box.execute(ProcessInput("cat", "hello\n", look=look))
    expect((told.data["text"], told.data["running"]), ("hello\n", True), "input")
    again = await box.execute(ProcessOutput("cat", Look(since=0)))
    expect((again.data["text"], again.data["why"]), ("ready\nhello\n", "time"), "output")
    ended = await box.execute(ProcessSignal("cat", "KILL", Look(wait_s=20.0)))
    expect((ended.data["running"], ended.data["signal"]), (False, 9), "signal")
    late = await box.execute(ProcessInput("cat", "hello\n"))
    expect(late.code, "unavailable", "input to what ended")
    listed = await box.execute(ProcessList())
    found = [(item["handle"], item["running"]) for item in listed.data["processes"]]
    expect(found, [("cat", False)], "list")
    missing = await box.execute(ProcessOutput("dog"))
    expect(missing.code, "not_found", "output of nothing")


async def check_refusals(subject: Subject) -> None:
    """A request that cannot be done is answered, not raised."""
    box = subject.box
    missing = await box.execute(ReadRequest(subject.path("missing")))
    expect(missing.code, "not_found", "read of nothing")
    outside = await box.execute(ReadRequest("/etc/passwd"))
    expect(outside.code, "outside", "read outside")
    await box.execute(WriteRequest(subject.path("twice"), "a a"))
    many = await box.execute(EditRequest(subject.path("twice"), (Replacement("a", "b"),)))
    expect(many.code, "many_matches", "edit of two")
    moved = await box.execute(WriteRequest(subject.path("twice"), "x", resolved="/elsewhere"))
    expect(moved.code, "moved", "write that would land elsewhere than judged")


async def check_resolution(subject: Subject) -> None:
    """A path resolves to where it lands, whether it is there and allowed or not."""
    landed = await subject.box.resolve(WriteRequest(subject.path("a/../new"), ""))
    expect(landed, subject.path("new"), "resolve")
    outside = await subject.box.resolve(ReadRequest(subject.path("../../etc/passwd")))
    expect(outside, "/etc/passwd", "resolve outside")


async def check_bad_paths(subject: Subject) -> None:
    """A path that names nothing possible is refused by ``resolve`` or by ``execute``."""
    request = ReadRequest(subject.path("a\0b"))
    try:
        await subject.box.resolve(request)
    except PathRefusedError:
        return
    outcome = await subject.box.execute(request)
    expect(outcome.error is not None, True, "a path with NUL")


async def check_probe(subject: Subject) -> None:
    """Every control is told, each as true or false."""
    posture = await subject.box.probe()
    expect(set(posture.controls), set(CONTROLS), "controls")
    expect({type(held) for held in posture.controls.values()}, {bool}, "kinds")


async def check_terminal(subject: Subject) -> None:
    """What a command prints on its terminal arrives, and its exit code."""
    for command, words, code in (("echo hello", "hello", 0), ("echo hüll; exit 3", "hüll", 3)):
        stream = await subject.terminal(command)
        expect((await read_all(stream)).decode().strip(), words, "shown")
        expect((await stream.close()).exit_code, code, "exit code")


async def check_typing(subject: Subject) -> None:
    """What is typed reaches the command; a terminal takes any size."""
    stream = await subject.terminal("cat")
    stream.resize(TerminalSize(200, 50))
    await stream.send("grüß\n".encode())
    await stream.send(b"\x04", last=True)
    shown = (await read_all(stream)).decode()
    expect("grüß" in shown, True, f"typed text in {shown!r}")
    expect((await stream.close()).exit_code, 0, "exit code at Ctrl-D")
    await stream.send(b"dropped")


async def check_hang_up(subject: Subject) -> None:
    """Closing a terminal ends what runs on it, and the box goes on."""
    began = time.monotonic()
    stream = await subject.terminal("sleep 30")
    end = await stream.close()
    expect((end.exit_code, end.reason), (None, "cancelled"), "end")
    if time.monotonic() - began > 10:
        raise AssertionError("closing waited for the command")
    expect(await stream.close(), end, "closed again")
    await check_commands(subject)


async def check_pipes(subject: Subject) -> None:
    """A program with pipes gets what is sent, says it back in pieces, and its code is told."""
    programs: list[str] = []

    def hear(report: ExecReport) -> bool:
        programs.extend(seen.name for seen in report.execs)
        return False

    target = ProgramTarget("cat", subject.spec.workdir)
    stream = await subject.box.open_stream(target, on_execs=hear)
    await stream.send(b"gr\xc3\xbc\xc3\x9fe\0\n", last=True)
    pieces = Pieces().feed(await read_all(stream))
    expect(b"".join(data for _, data in pieces), b"gr\xc3\xbc\xc3\x9fe\0\n", "sent and said")
    expect({source for source, _ in pieces}, {"stdout"}, "source")
    expect((await stream.close()).exit_code, 0, "exit code")
    failed = await subject.box.open_stream(ProgramTarget("echo hüll; exit 3", subject.spec.workdir))
    expect(Pieces().feed(await read_all(failed)), [("stdout", "hüll\n".encode())], "said")
    expect((await failed.close()).exit_code, 3, "exit code")
    expect("cat" in programs, True, f"cat among the programs {programs}")


async def check_no_server(subject: Subject) -> None:
    """A port that nobody listens on is a refusal, not a failure of the box."""
    try:
        await subject.box.open_stream(TcpTarget(9))
    except StreamRefusedError as err:
        expect("refused" in str(err), True, f"reason in {err}")
        return
    raise AssertionError("a port without a server was opened")


async def check_way_out(subject: Subject) -> None:
    """Programs reach who is outside while there is somebody, and nobody else does."""
    await check_open(subject.box, subject.spec.workdir)


async def check_way_out_failure(subject: Subject) -> None:
    """A connection that fails outside harms no other."""
    await check_failure(subject.box, subject.spec.workdir)


async def check_end(subject: Subject) -> None:
    """After ``stop`` every call and stream raises BoxError; a second ``stop`` does nothing."""
    stream = await subject.terminal("cat")
    await subject.lifecycle.stop(subject.spec.session, gone=False)
    await subject.lifecycle.stop(subject.spec.session)
    await subject.lifecycle.stop(subject.spec.session)
    waits: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: subject.run("echo hello"),
        lambda: read_all(stream),
        lambda: subject.terminal("cat"),
    )
    for wait in waits:
        try:
            with anyio.fail_after(5):
                await wait()
        except BoxError:
            continue
        raise AssertionError("a stopped box went on")


async def check_images(subject: Subject) -> None:
    """An image has a digest; one that is missing is an EngineError."""
    digest = await subject.lifecycle.image_digest(subject.spec.image)
    expect((digest[:7], len(digest)), ("sha256:", 71), "digest")
    try:
        await subject.lifecycle.image_digest("glovebox/nothing:there")
    except EngineError:
        return
    raise AssertionError("a missing image has a digest")


Check = Callable[[Subject], Awaitable[None]]

CHECKS: tuple[Check, ...] = (
    check_commands,
    check_streaming,
    check_time_out,
    check_cancellation,
    check_overlap,
    check_files,
    check_processes,
    check_refusals,
    check_resolution,
    check_bad_paths,
    check_probe,
    check_images,
    check_terminal,
    check_typing,
    check_hang_up,
    check_pipes,
    check_no_server,
    check_way_out,
    check_way_out_failure,
    check_end,
)
