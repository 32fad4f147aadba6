"""A program's output and errors in pieces, as they come out of the box."""

import pytest

from orchestrator.errors import BoxError
from orchestrator.sandbox.pieces import Pieces, piece_of


def test_pieces_come_out_as_they_went_in_however_they_are_cut():
    """Byte by byte or all at once."""
    sent = [("stdout", b"one\0"), ("stderr", b"two"), ("stdout", b"x" * 65_536)]
    whole = b"".join(piece_of(source, data) for source, data in sent)
    slow = Pieces()

    assert Pieces().feed(whole) == sent
    assert [piece for at in range(len(whole)) for piece in slow.feed(whole[at : at + 1])] == sent


@pytest.mark.parametrize(
    "wrong", [b"\3\0\0\0\0\0\0\1x", b"\1\0\0\0\0\0\0\0", b"\1\0\0\0\0\1\0\1", b"\0" * 8]
)
def test_what_is_no_piece_is_a_breach(wrong):
    """Another source, nothing in it, too much in it."""
    with pytest.raises(BoxError):
        Pieces().feed(wrong)
