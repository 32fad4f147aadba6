import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import BoxError
from orchestrator.sandbox.engine_stream import LAST_WORDS, EngineStream


def wrapped(kind, data):
    return struct.pack("!BxxxI", kind, len(data)) + data


@given(
    pieces=st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40))),
    step=st.integers(1, 60),
)
def test_streams_come_apart_however_they_are_cut(pieces, step):
    """Output is what went to standard output, whole and in order; the rest is kept aside."""
    sent = b"".join(wrapped(kind, data) for kind, data in pieces)
    stream = EngineStream()

    out = b"".join(stream.feed(sent[i : i + step]) for i in range(0, len(sent), step))

    assert out == b"".join(data for kind, data in pieces if kind == 1)


def test_last_words_are_kept_and_bounded():
    """A box that screams to standard error costs the host nothing."""
    stream = EngineStream()
    for number in range(5000):
        stream.feed(wrapped(2, b"line %d\n" % number))

    assert stream.last_words().endswith("line 4999")
    assert len(stream.last_words()) <= LAST_WORDS


def test_unknown_stream_is_a_breach():
    """What is no wrapping is not guessed at."""
    with pytest.raises(BoxError, match="got 7"):
        EngineStream().feed(wrapped(7, b"x"))
