import anyio
import pytest

from orchestrator.errors import BoxError
from orchestrator.sandbox.scripted_stream import ScriptedStream
from orchestrator.schema.stream import StreamEnd, TerminalSize


def test_what_was_sent_is_kept():
    """Tests look at what reached the box."""
    stream = ScriptedStream(lasts=True)
    stream.resize(TerminalSize(10, 5))
    anyio.run(stream.send, b"ls\r")

    assert (stream.typed, stream.sizes) == (b"ls\r", [TerminalSize(10, 5)])


def test_text_can_appear_later():
    """So that what shows it can be tested step by step."""

    async def scene():
        stream = ScriptedStream(b"a", lasts=True)
        got = [await stream.receive()]
        async with anyio.create_task_group() as group:
            group.start_soon(reader, stream, got)
            await anyio.sleep(0.01)
            stream.show(b"b")
        return got, await stream.close()

    async def reader(stream, got):
        got.append(await stream.receive())

    assert anyio.run(scene) == ([b"a", b"b"], StreamEnd(reason="cancelled"))


def test_failure_of_the_box_can_be_scripted():
    """As with calls."""
    stream = ScriptedStream(lasts=True)
    stream.fail(BoxError("gone"))

    with pytest.raises(BoxError, match="gone"):
        anyio.run(stream.receive)
