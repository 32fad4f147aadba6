import anyio
import pytest

from orchestrator.errors import BoxError
from orchestrator.sandbox.channel import Channel
from orchestrator.sandbox.frames import CREDIT, DATA, END, PONG, U32, WINDOW, Frame


@pytest.fixture
def sent():
    return []


@pytest.fixture
def channel(sent):
    return Channel(7, lambda call, kind, payload=b"": sent.append((call, kind, payload)))


def credit(count):
    return Frame(7, CREDIT, U32.pack(count))


def play(scene):
    async def bounded():
        with anyio.fail_after(5):
            await scene()

    anyio.run(bounded)


def test_bytes_are_sent_no_further_than_credit_goes(channel, sent):
    """The far end says how much it takes; the rest waits for it."""

    async def scene():
        async with anyio.create_task_group() as group:
            group.start_soon(channel.send, bytes(100_000))
            await anyio.sleep(0.01)
            assert sent == []
            channel.take(credit(70_000))
            await anyio.sleep(0.01)
            assert [len(data) for _, _, data in sent] == [65_536, 4_464]
            channel.take(credit(WINDOW))
        assert sum(len(data) for _, _, data in sent) == 100_000

    play(scene)


def test_last_word_follows_the_bytes(channel, sent):
    """After it, nothing is sent any more."""

    async def scene():
        channel.take(credit(10))
        await channel.send(b"abc", last=True)
        await channel.send(b"more", last=True)

    play(scene)
    assert [(kind, data) for _, kind, data in sent] == [(DATA, b"abc"), (END, b"")]


def test_what_is_read_is_paid_back(channel, sent):
    """The window opens as the reader reads, not as bytes arrive."""

    async def scene():
        for _ in range(4):
            channel.take(Frame(7, DATA, bytes(WINDOW // 4)))
        assert sent == []
        for _ in range(4):
            assert len(await channel.receive()) == WINDOW // 4

    play(scene)
    granted = sum(U32.unpack(data)[0] for _, kind, data in sent if kind == CREDIT)
    assert WINDOW // 2 <= granted <= WINDOW


def test_more_than_was_allowed_is_a_breach(channel):
    """A box cannot flood the host through a stream."""
    channel.take(Frame(7, DATA, bytes(WINDOW)))

    with pytest.raises(BoxError, match="allowed"):
        channel.take(Frame(7, DATA, b"x"))


def test_bytes_after_the_last_word_are_a_breach(channel):
    """A half that is closed stays closed."""
    channel.take(Frame(7, END, b""))

    with pytest.raises(BoxError, match="allowed"):
        channel.take(Frame(7, DATA, b"x"))


@pytest.mark.parametrize("frame", [Frame(7, PONG, b""), Frame(7, CREDIT, b"xy")])
def test_frame_that_is_none_of_a_streams_is_not_taken(channel, frame):
    """Who holds the channel decides what that means."""
    assert channel.take(frame) is False


def test_reader_gets_all_before_the_end(channel):
    """The end is told after the last byte, and again whenever it is asked for."""

    async def scene():
        channel.take(Frame(7, DATA, b"a"))
        channel.take(Frame(7, DATA, b""))
        channel.take(Frame(7, END, b""))
        assert [await channel.receive() for _ in range(3)] == [b"a", b"", b""]

    play(scene)


def test_waiting_reader_is_told_of_a_failure(channel):
    """Nobody waits for a box that is gone."""

    async def scene():
        async with anyio.create_task_group() as group:
            group.start_soon(fails)
            await anyio.sleep(0.01)
            channel.fail(BoxError("box: it ended"))

    async def fails():
        with pytest.raises(BoxError, match="it ended"):
            await channel.receive()

    play(scene)


def test_dropped_bytes_are_paid_back(channel, sent):
    """The far end is not held up by a reader that has left."""
    channel.take(Frame(7, DATA, bytes(WINDOW)))
    channel.drop_arrived()

    assert [kind for _, kind, _ in sent] == [CREDIT]
