import pytest
from hypothesis import given
from hypothesis import strategies as st
from ring import KEPT_BYTES, Ring


def test_the_newest_bytes_are_kept_and_the_rest_counted():
    """Places go on as if nothing had been dropped."""
    ring = Ring()
    for number in range(300):
        ring.add(b"%09d\n" % number * 1000)

    assert ring.end == 3_000_000
    assert KEPT_BYTES <= ring.end - ring.start <= 1.5 * KEPT_BYTES
    assert ring.between(ring.end - 10, ring.end) == b"000000299\n"
    assert ring.between(0, ring.start + 10) == ring.between(ring.start, ring.start + 10)


@pytest.mark.parametrize(("place", "start"), [(0, 0), (3, 0), (4, 4), (7, 4), (8, 8), (9, 8)])
def test_a_line_begins_after_the_newline_before_it(place, start):
    """The place of the byte itself counts as inside its line."""
    ring = Ring()
    ring.add(b"one\ntwo\nt")

    assert ring.line_start(place) == start


@given(st.text(min_size=1), st.data())
def test_no_cut_goes_through_a_character(text, data):
    """Wherever a stretch is cut, what is left of it is text."""
    ring, raw = Ring(), text.encode("utf-8", "replace")
    ring.add(raw)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(raw))] * 2)))
    first, last = ring.character_start(start), ring.character_end(end)

    assert start <= first <= start + 3
    assert end - 3 <= last <= end
    assert ring.between(first, max(first, last)).decode() in raw.decode()
