"""Where a wrapped program is shown, and what waits meanwhile."""

import os
import pty
from dataclasses import dataclass, field

import anyio
import pytest

from orchestrator.cli.wrap_io import PipeSeat, WrapIo
from orchestrator.confirmation.gate import Answer
from orchestrator.dispatch.output import OutputFilter
from orchestrator.harness.wrap.pipes import Pipes
from orchestrator.redaction.redactor import Redactor
from orchestrator.sandbox.scripted_stream import ScriptedStream
from orchestrator.schema.event import ErrorRaised, ProgramOutput
from tests.support.asking import question


@dataclass
class Io:
    """A RunIo that keeps what it is told."""

    told: list = field(default_factory=list)

    def observer(self, _session):
        return self.told.append

    def note(self, text):
        self.told.append(text)

    def person(self, room):
        return Person(self.told, room)


@dataclass
class Person:
    told: list
    room: object

    async def ask(self, asked, *, timeout_s):
        async with self.room():
            self.told.append(("ask", asked.id, timeout_s))
        return Answer(yes=True, by="terminal")

    async def close(self, asked, answer):
        self.told.append(("closed", asked.id, answer.by))


class Screen:
    def __init__(self, told):
        self.told = told

    def aside(self):
        outer = self

        class Lent:
            async def __aenter__(self):
                outer.told.append("lent")

            async def __aexit__(self, *_):
                outer.told.append("back")

        return Lent()


def test_nothing_is_written_on_a_programs_screen():
    """What is told meanwhile comes after it, in order."""
    io = Io()
    shared = WrapIo(io)
    observe = shared.observer("s")

    async def show():
        shared.note("before")
        async with shared.showing(Screen(io.told)):
            shared.note("during")
            observe(ErrorRaised("x", "y"))
            assert io.told == ["before"]
        shared.note("after")

    anyio.run(show)

    assert io.told == ["before", "during", ErrorRaised("x", "y"), "after"]


def test_screen_is_lent_out_for_a_question():
    """And given back after the answer; without a program there is nothing to lend."""
    io = Io()
    shared = WrapIo(io)
    person = shared.person()

    async def ask():
        async with shared.showing(Screen(io.told)):
            during = await person.ask(question("ls"), timeout_s=5.0)
            await person.close(question("ls"), during)
        await person.ask(question("ls"), timeout_s=6.0)
        await person.close(question("ls"), during)

    anyio.run(ask)

    words = [item if isinstance(item, str) else item[0] for item in io.told]
    assert words == ["lent", "ask", "back", "ask", "closed"]


def piped(seat, stream, events):
    output = OutputFilter(Redactor({}))
    pipes = Pipes(stream, call="wrap-1", observe=events.append, output=output)

    async def pipe():
        with anyio.fail_after(20):
            return await seat.pipe(pipes)

    return anyio.run(pipe)


def file_with(path, data):
    path.write_bytes(data)
    return os.open(path, os.O_RDONLY)


@pytest.mark.parametrize("kind", ["pipe", "file", "null"])
def test_own_streams_are_carried_as_they_are(tmp_path, kind):
    """Whatever input is: what can have one wait, and what cannot."""
    sent = b"in\0\xff" * 30_000 if kind == "file" else b"in\0\xff"
    if kind == "pipe":
        given, end = os.pipe()
        os.write(end, sent)
        os.close(end)
    else:
        given = file_with(tmp_path / "in", sent if kind == "file" else b"")
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as errors:
        seat = PipeSeat(False, (given, out.fileno(), errors.fileno()))
        stream = ScriptedStream(lasts=True, echoes=True, pipes=True)
        left = piped(seat, stream, [])
    os.close(given)

    wanted = b"" if kind == "null" else sent
    assert (left, stream.typed) == ("ended", wanted)
    assert (tmp_path / "out").read_bytes() == wanted


def test_reader_that_is_gone_ends_it(tmp_path):
    """As a signal would end a program of the host."""
    given = file_with(tmp_path / "in", b"")
    read, write = os.pipe()
    os.close(read)
    seat = PipeSeat(False, (given, write, write))
    try:
        left = piped(seat, ScriptedStream(b"words", lasts=True, pipes=True), [])
    finally:
        os.close(given)
        os.close(write)

    assert left == "gone"


def test_events_take_the_place_of_the_streams(tmp_path):
    """Nothing goes to them."""
    given, events = file_with(tmp_path / "in", b""), []
    with (tmp_path / "out").open("wb") as out:
        seat = PipeSeat(True, (given, out.fileno(), out.fileno()))
        piped(seat, ScriptedStream(b"words", pipes=True), events)
    os.close(given)

    # The stream's end flushes, which is the program's part.
    assert (tmp_path / "out").read_bytes() == b""
    assert all(isinstance(event, ProgramOutput) for event in events)


def test_what_goes_to_a_terminal_is_harmless(tmp_path):
    """Clipboard and title are left out, text and colours stay."""
    given = file_with(tmp_path / "in", b"")
    master, slave = pty.openpty()
    said = b"\x1b]52;c;cm0=\x07\x1b]0;owned\x07plain \x1b[31mred"
    piped(PipeSeat(False, (given, slave, slave)), ScriptedStream(said, pipes=True), [])
    shown = os.read(master, 1000)
    for fd in (given, master, slave):
        os.close(fd)

    assert b"plain" in shown
    assert b"red" in shown
    assert b"52;c" not in shown
    assert b"owned" not in shown
