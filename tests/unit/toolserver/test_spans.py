from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from spans import Haystack, Span, first_overlap, replaced

PIECES = st.lists(st.sampled_from([b"a", b"b", b"\n", b"\r\n", b"\r", b"\xff"]), max_size=30).map(
    b"".join
)


def lf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


@given(PIECES, st.sampled_from([b"a", b"\n", b"b\n", b"\nb", b"a\nb", b"aa"]))
def test_any_span_maps_back_to_the_bytes_that_matched(content: bytes, old: bytes) -> None:
    """A region holds what was searched for, but for returns, and never half a line ending."""
    haystack = Haystack(content)

    for place in haystack.occurrences(old):
        span = haystack.span(place, old, b"", edit=0)
        assert lf(content[span.start : span.stop]) == old
        assert not (
            content[span.stop - 1 : span.stop] == b"\r"
            and content[span.stop : span.stop + 1] == b"\n"
        )


@given(PIECES, st.sampled_from([b"a", b"b\n", b"a\nb"]))
def test_any_replacement_by_itself_changes_nothing(content: bytes, old: bytes) -> None:
    """Line endings of a region are those it had."""
    haystack = Haystack(content)
    spans = [haystack.span(place, old, old, edit=0) for place in haystack.disjoint(old)]

    assert replaced(content, spans) == content


def test_overlapping_occurrences_all_count() -> None:
    """``aa`` stands three times in ``aaaa``."""
    assert Haystack(b"aaaa").occurrences(b"aa") == [0, 1, 2]
    assert Haystack(b"aaaa").disjoint(b"aa") == [0, 2]


def test_added_lines_take_the_last_style_of_the_region() -> None:
    """More lines than before go on as the region ended."""
    content = b"a\r\nb\nc\r\n"
    haystack = Haystack(content)

    span = haystack.span(0, b"a\nb\n", b"1\n2\n3\n", edit=0)

    assert replaced(content, [span]) == b"1\r\n2\n3\nc\r\n"


def test_region_without_an_ending_takes_that_of_its_line() -> None:
    """A new line within a CRLF line ends with CRLF."""
    content = b"a\nb\r\nc"
    haystack = Haystack(content)

    assert haystack.span(2, b"b", b"1\n2", edit=0).new == b"1\r\n2"
    assert haystack.span(0, b"a", b"1\n2", edit=0).new == b"1\n2"
    assert haystack.span(4, b"c", b"1\n2", edit=0).new == b"1\r\n2"


def test_touching_spans_do_not_overlap() -> None:
    """The end of one may be the start of the next."""
    left, touching, crossing = Span(0, 3, b"", 0), Span(3, 5, b"", 1), Span(2, 5, b"", 2)

    assert first_overlap([left, touching]) is None
    assert first_overlap([left, crossing]) == (left, crossing)
