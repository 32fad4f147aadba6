import json

import anyio
import pytest

from orchestrator.errors import BoxError
from orchestrator.sandbox.driver import StreamRefusedError
from orchestrator.sandbox.frames import (
    CANCEL,
    CREDIT,
    DATA,
    OUTPUT,
    RESIZE,
    RESULT,
    U32,
    WINDOW,
    Frame,
)
from orchestrator.sandbox.streams import OpenedStream, target_body
from orchestrator.schema.stream import StreamEnd, TcpTarget, TerminalSize, TerminalTarget


@pytest.fixture
def sent():
    return []


@pytest.fixture
def stream(sent):
    return OpenedStream(3, lambda call, kind, payload=b"": sent.append((call, kind, payload)))


def result(**answer):
    return Frame(3, RESULT, json.dumps(answer).encode())


def run(wait):
    async def bounded():
        with anyio.fail_after(5):
            return await wait()

    return anyio.run(bounded)


def test_request_says_where_it_leads():
    """A terminal with its size, brought into bounds, or a port."""
    terminal = TerminalTarget(TerminalSize(0, 5000), "/workspace", "ls")

    assert target_body(terminal) == {
        "to": {"terminal": {"command": "ls", "cwd": "/workspace", "columns": 1, "rows": 1000}},
        "credit": WINDOW,
    }
    assert target_body(TcpTarget(80)) == {"to": {"tcp": 80}, "credit": WINDOW}


def test_credit_opens_it(stream):
    """The box's first word says that it is there."""
    stream.take(Frame(3, CREDIT, U32.pack(WINDOW)))

    run(stream.opened)


def test_result_without_credit_is_a_refusal(stream):
    """With the box's reason."""
    assert stream.take(result(error="connection refused", code="unavailable"))

    with pytest.raises(StreamRefusedError, match="connection refused"):
        run(stream.opened)


def test_failure_on_the_heels_of_the_opening_is_the_end(stream):
    """However fast both came: it was open, so it is no refusal."""
    stream.take(Frame(3, CREDIT, U32.pack(WINDOW)))
    stream.take(result(error="/x: No such file or directory", code="invalid"))

    run(stream.opened)
    assert run(stream.close).reason == "/x: No such file or directory"


def test_end_is_told_after_the_bytes(stream, sent):
    """What came before the result is read before it, and nothing is cancelled."""
    stream.take(Frame(3, CREDIT, U32.pack(WINDOW)))
    stream.take(Frame(3, DATA, b"bye"))
    assert stream.take(result(data={"exit_code": 3, "signal": None, "reason": None}))

    assert [run(stream.receive), run(stream.receive)] == [b"bye", b""]
    assert run(stream.close) == StreamEnd(exit_code=3)
    assert sent == []


def test_closing_asks_the_box_once_and_waits(stream, sent):
    """Its effects are over when ``close`` returns."""

    async def scene():
        async with anyio.create_task_group() as group:
            group.start_soon(stream.close)
            group.start_soon(stream.close)
            await anyio.sleep(0.01)
            stream.take(Frame(3, DATA, b"late"))
            stream.take(result(data={"signal": 1, "reason": "cancelled"}))
        return await stream.close()

    assert run(scene) == StreamEnd(signal=1, reason="cancelled")
    assert [kind for _, kind, _ in sent] == [CANCEL]


def test_size_is_sent_in_bounds_while_it_is_open(stream, sent):
    """Two numbers; nothing to a stream that is over."""
    stream.resize(TerminalSize(5000, 24))
    stream.take(result(data={}))
    stream.resize(TerminalSize(80, 24))

    assert sent == [(3, RESIZE, U32.pack(1000) + U32.pack(24))]


@pytest.mark.parametrize(
    "frame",
    [
        Frame(3, OUTPUT, b"x"),
        result(data={"exit_code": 1000}),
        result(data={"signal": "kill"}),
        result(data=5),
        Frame(3, RESULT, b"\xff"),
    ],
)
def test_frame_of_another_shape_is_a_breach(stream, frame):
    """Nothing of the box is taken on trust."""
    with pytest.raises(BoxError):
        stream.take(frame)


def test_end_of_the_box_ends_it(stream):
    """With a reason, not with an exit code."""
    stream.fail(BoxError("box: it ended"))

    with pytest.raises(BoxError, match="it ended"):
        run(stream.opened)
    assert "gone" in run(stream.close).reason
