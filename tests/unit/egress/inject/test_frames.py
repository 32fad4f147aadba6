from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.egress.inject.echoes import Echoes
from orchestrator.egress.inject.frames import FrameError, FrameScrubber

SECRET, PLACEHOLDER = "topsecret-0123456789", "gbx_abcdefghijABCDEF"
ECHOES = Echoes({SECRET: PLACEHOLDER})


def frame(payload: bytes, *, opcode: int = 1, final: bool = True, first: int = 0) -> bytes:
    size = len(payload)
    if size < 126:
        length = bytes([size])
    elif size < 65_536:
        length = b"\x7e" + size.to_bytes(2)
    else:
        length = b"\x7f" + size.to_bytes(8)
    return bytes([(0x80 if final else 0) | opcode | first]) + length + payload


def message(payload: bytes, size: int, between: bytes = b"") -> bytes:
    """A message in fragments, each followed by what may stand between them."""
    pieces = [payload[at : at + size] for at in range(0, len(payload), size)] or [b""]
    frames = [
        frame(piece, opcode=1 if at == 0 else 0, final=at == len(pieces) - 1)
        for at, piece in enumerate(pieces)
    ]
    return between.join(frames)


@given(
    size=st.integers(1, 60),
    cuts=st.lists(st.integers(0, 400), max_size=8),
    ping=st.booleans(),
    around=st.text("ab01 -", max_size=30),
)
def test_secret_is_replaced_over_fragments_and_cuts(size, cuts, ping, around):
    """Each frame keeps its header, its length and its place among the others."""
    between = frame(b"are you there", opcode=9) if ping else b""
    before, after = around.encode(), around[::-1].encode()
    data = message(before + SECRET.encode() + after, size, between) + frame(b"next")
    scrubber = FrameScrubber(ECHOES)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    clean = b"".join(scrubber.feed(data[start:end]) for start, end in pairwise(edges))
    expected = message(before + PLACEHOLDER.encode() + after, size, between) + frame(b"next")

    assert clean == expected


@pytest.mark.parametrize("size", [0, 125, 126, 65_535, 65_536, 200_000])
def test_each_way_to_write_a_length_is_read(size):
    data = frame(b"x" * size) + frame(SECRET.encode(), opcode=2)
    clean = FrameScrubber(ECHOES).feed(data)

    assert clean == frame(b"x" * size) + frame(PLACEHOLDER.encode(), opcode=2)


def test_end_of_a_message_is_passed_on_at_once():
    """The client answers it; nothing may be kept that could be the beginning of a secret."""
    scrubber = FrameScrubber(ECHOES)

    assert scrubber.feed(frame(b"go on: top")) == frame(b"go on: top")


def test_control_frame_is_clean_too():
    """A ping may come within a message, a close may give a reason."""
    scrubber = FrameScrubber(ECHOES)

    assert scrubber.feed(frame(SECRET.encode(), opcode=9)) == frame(PLACEHOLDER.encode(), opcode=9)
    assert scrubber.feed(frame(b"\x03\xe8" + SECRET.encode(), opcode=8)) == frame(
        b"\x03\xe8" + PLACEHOLDER.encode(), opcode=8
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (frame(b"x", first=0x40), "compressed"),
        (b"\x81\x85maskhello", "masked"),
        (frame(b"x" * 126, opcode=9), "control frame"),
        (frame(b"x", opcode=9, final=False), "control frame"),
    ],
)
def test_frames_that_cannot_be_read_end_it(data, words):
    with pytest.raises(FrameError, match=words):
        FrameScrubber(ECHOES).feed(data)


def test_empty_frames_do_not_pile_up():
    """Behind what may be half a secret only so many wait."""
    scrubber = FrameScrubber(ECHOES)
    scrubber.feed(frame(b"tops", final=False))

    with pytest.raises(FrameError, match="too many"):
        scrubber.feed(frame(b"", opcode=0, final=False) * 2000)


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_any_bytes_are_frames_or_an_error(pieces):
    """Nothing else comes out, and never more than came in."""
    scrubber = FrameScrubber(ECHOES)
    try:
        out = b"".join(scrubber.feed(piece) for piece in pieces)
    except FrameError:
        return
    assert len(out) <= sum(map(len, pieces))
