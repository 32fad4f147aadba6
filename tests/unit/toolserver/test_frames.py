import frames
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.sandbox import frames as host

ENDS = pytest.mark.parametrize(
    ("sender", "receiver"), [(frames, host), (host, frames)], ids=["to-host", "to-box"]
)


@ENDS
@given(payload=st.binary(max_size=400), step=st.integers(1, 50))
def test_message_arrives_however_it_is_cut(sender, receiver, payload, step):
    """Both ends speak the same wire, and nothing depends on how bytes come in."""
    sent = b"".join(sender.encode(7, sender.OUTPUT, payload))
    decoder = receiver.Decoder()

    got = [f for i in range(0, len(sent), step) for f in decoder.feed(sent[i : i + step])]

    assert got == [(7, receiver.OUTPUT, payload)]


@ENDS
@pytest.mark.parametrize("size", [0, 65_536, 65_537, 200_000])
def test_large_message_travels_in_parts(sender, receiver, size):
    """A part is never larger than a frame may be, and the parts make the whole."""
    payload = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    parts = sender.encode(3, sender.RESULT, payload)

    assert max(len(part) for part in parts) <= sender.HEADER.size + sender.MAX_PAYLOAD
    assert receiver.Decoder().feed(b"".join(parts)) == [(3, receiver.RESULT, payload)]


def test_parts_of_several_messages_may_mix():
    """Calls share a connection: the parts of one come between those of another."""
    first = frames.encode(1, frames.RESULT, b"a" * 100_000)
    second = frames.encode(2, frames.RESULT, b"b" * 100_000)
    mixed = b"".join(part for pair in zip(first, second, strict=True) for part in pair)

    got = frames.Decoder().feed(mixed)

    assert [(frame.call, len(frame.payload)) for frame in got] == [(1, 100_000), (2, 100_000)]


def test_oversized_frame_is_no_frame():
    """A length beyond the limit is refused before anything is read for it."""
    with pytest.raises(frames.ProtocolError, match="65537"):
        frames.Decoder().feed(frames.HEADER.pack(65_537, 1, frames.RESULT))


@pytest.mark.parametrize("end", [frames, host], ids=["box", "host"])
def test_both_ends_name_the_same_kinds(end):
    """The two modules are written apart and must not drift."""
    names = [
        name for name in dir(frames) if name.isupper() and isinstance(getattr(frames, name), int)
    ]

    assert {name: getattr(end, name) for name in names} == {
        name: getattr(frames, name) for name in names
    }
    assert {end.DATA, end.END} == end.BULK


def drained(outbox):
    order = []
    while (piece := outbox.next_piece()) is not None:
        order.append(frames.HEADER.unpack_from(piece)[1])
        outbox.sent(len(piece))
    return order


def test_bulk_of_one_call_does_not_delay_another():
    """Calls take turns, whoever queued first and most."""
    outbox = frames.Outbox()
    outbox.put(1, frames.encode(1, frames.RESULT, bytes(300_000)))
    outbox.put(2, frames.encode(2, frames.RESULT, b"small"))

    assert drained(outbox)[:3] == [1, 2, 1]


@pytest.mark.parametrize("end", [frames, host], ids=["box", "host"])
def test_bulk_goes_after_every_call_and_does_not_starve(end):
    """A call overtakes what a stream has queued; a flood of calls lets a little of it through."""
    outbox = end.Outbox()
    outbox.put(1, end.encode(1, end.DATA, bytes(200_000)), bulk=True)
    outbox.put(2, end.encode(2, end.RESULT, b"small"))
    for call in range(3, 23):
        outbox.put(call, end.encode(call, end.RESULT, b"small"))

    order = drained(outbox)

    assert order[:8] == list(range(2, 10))
    assert order[8] == order[17] == 1
    assert order[-2:] == [1, 1]


def test_result_of_a_stream_goes_after_its_bytes():
    """Within one number nothing overtakes."""
    outbox = frames.Outbox()
    outbox.put(1, frames.encode(1, frames.DATA, bytes(100_000)), bulk=True)
    outbox.put(1, frames.encode(1, frames.RESULT, b"{}"))
    kinds = []
    while (piece := outbox.next_piece()) is not None:
        kinds.append(frames.HEADER.unpack_from(piece)[2])
        outbox.sent(len(piece))

    assert kinds == [frames.DATA | frames.MORE, frames.DATA, frames.RESULT]


def test_rest_of_a_piece_goes_before_the_next():
    """A frame that was sent in half is finished first, or the wire would break."""
    outbox = frames.Outbox()
    outbox.put(1, [b"abcdef"])
    outbox.put(2, [b"xyz"])
    assert bytes(outbox.next_piece()) == b"abcdef"
    outbox.sent(2)

    assert bytes(outbox.next_piece()) == b"cdef"
