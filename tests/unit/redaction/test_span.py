"""Overlapping finds become one, named by the surest."""

from orchestrator.redaction.span import Certainty, Span, merge_spans

KNOWN, SHAPE, CONTEXT = Certainty.KNOWN, Certainty.SHAPE, Certainty.CONTEXT


def test_disjoint_spans_stay_in_order() -> None:
    """Touching spans are two secrets."""
    first, second = Span(0, 3, "a", SHAPE), Span(3, 5, "b", SHAPE)

    assert merge_spans([second, first]) == [first, second]


def test_overlapping_spans_cover_both_under_the_surer_name() -> None:
    """Nothing of either find is left over."""
    spans = [Span(2, 9, "password", CONTEXT), Span(0, 4, "token", SHAPE), Span(3, 5, "key", KNOWN)]

    assert merge_spans(spans) == [Span(0, 9, "key", KNOWN)]


def test_contained_span_disappears() -> None:
    """A find inside a find of equal certainty changes nothing."""
    outer = Span(0, 9, "jwt", SHAPE)

    assert merge_spans([outer, Span(2, 4, "other", SHAPE)]) == [outer]


def test_no_finds_merge_to_none() -> None:
    """An empty text has nothing to hide."""
    assert merge_spans([]) == []
