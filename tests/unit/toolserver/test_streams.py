"""The table of streams in the tool server, asked in ways that no host of ours would."""

import json

import anyio
import pytest

from orchestrator.sandbox.driver import StreamRefusedError
from orchestrator.sandbox.frames import BOX_NUMBERS, OPEN
from orchestrator.sandbox.streams import OpenedStream
from orchestrator.schema.stream import TerminalSize, TerminalTarget

pytestmark = pytest.mark.docker


async def opened(scene, number, body):
    """Open a stream with any number and any body, and say how it was refused."""
    calls = scene.box._calls
    stream = calls._open[number] = OpenedStream(number, calls._link.send)
    calls._link.send(number, OPEN, body)
    with pytest.raises(StreamRefusedError) as caught:
        await stream.opened()
    return str(caught.value)


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


def test_number_of_the_boxs_own_is_refused(stage):
    """They are kept for streams that the box will open."""

    async def scene(scene):
        body = json.dumps({"to": {"tcp": 9}, "credit": 1}).encode()
        return await opened(scene, BOX_NUMBERS, body)

    assert "not the host's" in stage.play(scene)


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
