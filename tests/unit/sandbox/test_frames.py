import pytest

from orchestrator.errors import BoxError
from orchestrator.sandbox.frames import (
    HEADER,
    MAX_CALLS,
    MAX_MESSAGE,
    MAX_PAYLOAD,
    MORE,
    RESULT,
    Decoder,
)

# What both ends share is tested beside the other end, tests/unit/toolserver/test_frames.py.


def part(call, size=MAX_PAYLOAD, kind=RESULT | MORE):
    return HEADER.pack(size, call, kind) + bytes(size)


def test_frame_beyond_the_limit_is_a_breach():
    """A lying length is refused before anything is read for it."""
    with pytest.raises(BoxError, match="65537"):
        Decoder().feed(HEADER.pack(MAX_PAYLOAD + 1, 1, RESULT))


def feed_parts(decoder, calls, parts):
    for call in range(calls):
        for _ in range(parts):
            decoder.feed(part(call))


def test_endless_message_is_a_breach():
    """A box cannot bloat the host with one message."""
    with pytest.raises(BoxError, match=str(MAX_MESSAGE)):
        feed_parts(Decoder(), 1, MAX_MESSAGE // MAX_PAYLOAD + 1)


def test_many_unfinished_messages_are_a_breach():
    """Nor with many that never end."""
    decoder = Decoder()
    feed_parts(decoder, MAX_CALLS, 1)

    with pytest.raises(BoxError):
        decoder.feed(part(MAX_CALLS))


def test_unfinished_messages_are_bounded_together():
    """The bound is on what is held, not on each alone."""
    decoder = Decoder()
    feed_parts(decoder, 4, MAX_MESSAGE // MAX_PAYLOAD)

    with pytest.raises(BoxError):
        decoder.feed(part(4))


def test_finished_messages_are_not_held():
    """What was delivered does not count any more."""
    decoder = Decoder()

    for _ in range(20):
        for _ in range(MAX_MESSAGE // MAX_PAYLOAD - 1):
            decoder.feed(part(1))
        [frame] = decoder.feed(part(1, kind=RESULT))

    assert len(frame.payload) == MAX_MESSAGE
