from __future__ import annotations

import pytest
from near import MAX_RATIOS, MAX_SHOWN, nearest


@pytest.mark.parametrize(
    ("content", "old", "difference"),
    [
        ("a\n    return  x\nb\n", "\treturn x", "whitespace"),
        ("a\nname = \u201cx\u201d\nb\n", 'name = "x"', "quotes"),
        ("a\nx \u2013 y\n", "x - y", "dashes"),
        ("a\ncafe\u0301\n", "caf\u00e9", "accents"),
    ],
)
def test_text_that_only_looks_different_is_named(content: str, old: str, difference: str) -> None:
    """The reader learns where it is and what differs."""
    candidate = nearest(content.encode(), old.encode())

    assert candidate is not None
    assert candidate.line == 2
    assert difference in candidate.difference


def test_several_lines_are_found_across_indentation() -> None:
    """A block moved to the right is still that block."""
    content = b"def f():\n    if x:\n        return 1\n"

    candidate = nearest(content, b"if x:\n    return 1\n")

    assert candidate is not None
    assert (candidate.line, candidate.text) == (2, "    if x:\n        return 1")


def test_slip_of_the_pen_finds_the_most_alike_line() -> None:
    """One letter off still points to the place."""
    candidate = nearest(b"alpha\ncompute_total(items)\nomega\n", b"compute_totl(items)")

    assert candidate is not None
    assert (candidate.line, candidate.difference) == (2, "is the most alike")


def test_nothing_alike_gives_no_candidate() -> None:
    """A far-fetched candidate would mislead."""
    assert nearest(b"alpha\nbeta\n", b"12345") is None


def test_blank_text_has_no_candidate() -> None:
    """White space is like everything."""
    assert nearest(b"a\n \n", b"   ") is None


def test_candidate_is_bounded() -> None:
    """A message is no second read."""
    candidate = nearest(b"x" * 5000 + b" y\n", b"x" * 5000 + b"  y")

    assert candidate is not None
    assert len(candidate.text) <= MAX_SHOWN + 4


def test_table_of_like_lines_is_answered_from_a_few_comparisons() -> None:
    """Where every line is nearly alike the first good one is enough."""
    rows = "".join(
        f"{number:07}, some value, another value, {number}\n" for number in range(20_000)
    )

    candidate = nearest(rows.encode(), b"0000x00, some value, another value, 9")

    assert candidate is not None
    assert candidate.line <= MAX_RATIOS
