"""Spans of a command's text."""

import pytest

from orchestrator.shell.analysis import overlap


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ((0, 3), (2, 5), True),
        ((0, 3), (3, 5), False),
        ((1, 2), (0, 9), True),
        ((4, 4), (4, 9), False),
    ],
)
def test_spans_overlap_where_they_share_a_character(one, other, shared):
    """Either way round; where one ends as the other begins, or is empty, they share none."""
    assert overlap(one, other) is overlap(other, one) is shared
