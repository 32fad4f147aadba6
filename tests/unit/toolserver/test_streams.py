"""The table of streams in the tool server, asked in ways that no host of ours would."""

import json

import anyio
import pytest
from frames import BOX_NUMBERS, OPEN, RESULT, Frame
from loop import Loop
from streams import Streams

from orchestrator.sandbox.driver import StreamRefusedError
from orchestrator.sandbox.streams import OpenedStream
from orchestrator.schema.stream import TerminalSize, TerminalTarget

docker = pytest.mark.docker


async def opened(scene, number, body):
    """Open a stream with any number and any body, and say how it was refused."""
    calls = scene.box._calls
    stream = calls._open[number] = OpenedStream(number, calls._link.send)
    calls._link.send(number, OPEN, body)
    with pytest.raises(StreamRefusedError) as caught:
        await stream.opened()
    return str(caught.value)


@docker
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"no JSON", "JSONDecodeError"),
        (b"{}", "to"),
        (json.dumps({"to": {"tcp": "x"}, "credit": 1}).encode(), "x"),
        (json.dumps({"to": {"terminal": {}}, "credit": 1}).encode(), "cwd"),
    ],
)
def test_request_of_another_shape_is_refused(stage, body, words):
    """The server answers and lives."""

    async def scene(scene):
        return await opened(scene, 500, body), await scene.output("echo next")

    refusal, following = stage.play(scene)

    assert words in refusal
    assert following == "next\n"


def test_number_of_the_boxs_own_is_refused():
    """They are kept for streams that the box opens."""
    sent = []

    class Link:
        def send(self, *frame):
            sent.append(frame)

    streams = Streams(Loop(), None, Link(), watch=None, witness=None)
    body = json.dumps({"to": {"tcp": 9}, "credit": 1}).encode()
    streams.take(Frame(BOX_NUMBERS, OPEN, body), lambda: 0)

    [(number, kind, payload)] = sent
    assert (number, kind) == (BOX_NUMBERS, RESULT)
    assert "not the host's" in json.loads(payload)["error"]


@docker
def test_terminals_are_bounded(stage):
    """Each holds a pseudo-terminal and processes; the refusal says what to do."""

    async def scene(scene):
        target = TerminalTarget(TerminalSize(), "/workspace", "cat")
        streams = [await scene.box.open_stream(target) for _ in range(8)]
        with pytest.raises(StreamRefusedError, match="close one first"):
            await scene.box.open_stream(target)
        async with anyio.create_task_group() as group:
            for stream in streams:
                group.start_soon(stream.close)
        again = await scene.box.open_stream(target)
        return await again.close()

    assert stage.play(scene).reason == "cancelled"
