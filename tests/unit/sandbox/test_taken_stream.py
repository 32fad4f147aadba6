import json

import anyio
import pytest

from orchestrator.errors import BoxError
from orchestrator.sandbox.frames import (
    CANCEL,
    CREDIT,
    DATA,
    END,
    OUTPUT,
    RESULT,
    U32,
    WINDOW,
    Frame,
)
from orchestrator.sandbox.taken_stream import TakenStream
from orchestrator.schema.stream import StreamEnd

NUMBER = 0x8000_0001


@pytest.fixture
def sent():
    return []


@pytest.fixture
def stream(sent):
    def send(_call, kind, payload=b""):
        sent.append((kind, payload))

    return TakenStream(NUMBER, send, credit=100)


def play(scene, *args):
    async def bounded():
        with anyio.fail_after(5):
            return await scene(*args)

    return anyio.run(bounded)


@pytest.mark.usefixtures("stream")
def test_program_may_send_at_once(sent):
    """Taking the stream is what opens it."""
    assert sent == [(CREDIT, U32.pack(WINDOW))]


def test_bytes_pass_both_ways_to_an_end_in_order(stream, sent):
    """The last word, then the result."""

    async def scene():
        stream.take(Frame(NUMBER, DATA, b"ask"))
        stream.take(Frame(NUMBER, END, b""))
        got = [await stream.receive(), await stream.receive()]
        await stream.send(b"answer", last=True)
        return got, await stream.close(), await stream.close()

    assert play(scene) == ([b"ask", b""], StreamEnd(), StreamEnd())
    kinds = [kind for kind, _ in sent]
    assert kinds == [CREDIT, DATA, END, RESULT]
    assert json.loads(sent[-1][1]) == {"data": {}}


def test_close_without_a_last_word_is_told_as_a_break(stream, sent):
    """A program must not take half of an answer for the whole."""

    async def scene():
        await stream.send(b"half of it")
        await stream.close()

    play(scene)

    assert json.loads(sent[-1][1])["error"] == "cut off"


@pytest.mark.parametrize("end", ["program", "box"])
def test_nobody_at_the_other_end_is_an_os_error(stream, end):
    """An endless download to a program that is gone stops."""

    async def scene():
        if end == "program":
            stream.take(Frame(NUMBER, CANCEL, b""))
        else:
            stream.fail(BoxError("box: it ended"))
        with pytest.raises(ConnectionResetError):
            await stream.receive()
        with pytest.raises(ConnectionResetError):
            await stream.send(bytes(1_000_000))

    play(scene)


def test_sender_that_waits_hears_that_the_program_is_gone(stream):
    """It does not wait for credit that never comes."""

    async def scene():
        async with anyio.create_task_group() as group:

            async def send():
                with pytest.raises(ConnectionResetError):
                    await stream.send(bytes(1000))

            group.start_soon(send)
            await anyio.sleep(0.01)
            stream.take(Frame(NUMBER, CANCEL, b""))

    play(scene)


@pytest.mark.parametrize(
    "frame",
    [
        Frame(NUMBER, DATA, bytes(WINDOW + 1)),
        Frame(NUMBER, OUTPUT, b"x"),
        Frame(NUMBER, RESULT, b"{}"),
        Frame(NUMBER, CREDIT, b"short"),
    ],
    ids=["more than allowed", "of a call", "result", "credit"],
)
def test_what_does_not_fit_is_a_breach(stream, frame):
    """The box is not believed."""
    with pytest.raises(BoxError):
        stream.take(frame)
