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
    RESIZE,
    RESULT,
    U32,
    WINDOW,
    Frame,
)
from orchestrator.sandbox.scripted_stream import ScriptedStream
from orchestrator.sandbox.served_stream import ServedStream
from orchestrator.schema.stream import TerminalSize


@pytest.fixture
def sent():
    return []


@pytest.fixture
def served(sent):
    return ServedStream(
        4, lambda call, kind, payload=b"": sent.append((call, kind, payload)), credit=WINDOW
    )


def play(served, target, scene=None, *, half_closes=False):
    async def whole():
        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                if scene is not None:
                    group.start_soon(scene)
                await served.relay(target, half_closes=half_closes)

    anyio.run(whole)


def test_terminal_is_over_when_nothing_more_comes(served, sent):
    """The far end hears all of it, and how it ended."""
    play(served, ScriptedStream(b"hello", exit_code=3))

    assert [kind for _, kind, _ in sent] == [CREDIT, DATA, RESULT]
    assert json.loads(sent[-1][2])["data"]["exit_code"] == 3


def test_bytes_and_sizes_go_in(served):
    """As the far end sends them."""
    target = ScriptedStream(lasts=True, echoes=True)

    async def scene():
        await anyio.sleep(0.01)
        served.take(Frame(4, RESIZE, U32.pack(50) + U32.pack(10)))
        served.take(Frame(4, DATA, b"typed\x04"))

    play(served, target, scene)

    assert (target.typed, target.sizes) == (b"typed\x04", [TerminalSize(50, 10)])


def test_connection_ends_when_both_ways_did(served, sent):
    """One way may go on for long after the other."""
    target = ScriptedStream(b"answer")

    async def scene():
        await anyio.sleep(0.05)
        assert [kind for _, kind, _ in sent] == [CREDIT, DATA, END]
        served.take(Frame(4, END, b""))

    play(served, target, scene, half_closes=True)

    assert sent[-1][1] == RESULT


@pytest.mark.parametrize("half_closes", [True, False])
def test_cancel_ends_it(served, sent, half_closes):
    """And what runs at its end; the result still comes."""
    target = ScriptedStream(lasts=True)

    async def scene():
        await anyio.sleep(0.01)
        served.take(Frame(4, CANCEL, b""))

    play(served, target, scene, half_closes=half_closes)

    assert json.loads(sent[-1][2])["data"]["reason"] == "cancelled"


def test_end_of_the_box_is_the_result(served, sent):
    """With its reason."""
    target = ScriptedStream(lasts=True)

    async def scene():
        await anyio.sleep(0.01)
        target.fail(BoxError("box: it ended"))

    play(served, target, scene)

    assert json.loads(sent[-1][2]) == {"error": "box: it ended"}


def test_refusal_says_why(served, sent):
    """There is no stream then."""
    served.refuse("nothing there")

    assert json.loads(sent[-1][2])["error"] == "nothing there"


def test_frame_that_is_none_of_a_streams_is_a_breach(served):
    """The connection that brought it ends."""
    with pytest.raises(BoxError, match=f"kind {OUTPUT}"):
        served.take(Frame(4, OUTPUT, b"x"))
