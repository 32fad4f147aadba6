"""Triggers' expressions: ordinary ones work, and none can run away."""

import pytest

from orchestrator.skills.patterns import compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "hit"),
    [
        (r"\bfix .* bug\b", "please FIX the old bug", True),
        (r"^(?:please )?review (?:my|the) [\w-]+$", "review the diff", True),
        (r"^(?:please )?review (?:my|the) [\w-]+$", "review it", False),
        (r"a{2,3}b", "aaab", True),
        (r"[\]x]+", "]]", True),
        (r"\(x\)*", "(x))))", True),
        (r"a.*?c", "abc", True),
    ],
)
def test_pattern_matches_as_written(pattern, text, hit):
    assert (compile_pattern(pattern).search(text) is not None) is hit


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|a)*$",
        "(?=a)",
        "(?i)a",
        r"(a)\1",
        "a*b*c*d",
        "a{9999}",
        "a?" * 9,
        "(",
        "[",
        "\\",
        "*",
        "x" * 201,
        "(?P<n>a)",
    ],
)
def test_pattern_that_could_run_away_or_is_broken_is_refused(pattern):
    with pytest.raises(ValueError, match=r"\w"):
        compile_pattern(pattern)


def test_worst_that_is_let_through_ends():
    """Bounded repeats over the longest text that is looked at; the runner's own time-out would tell."""
    assert compile_pattern(r".*a.*b?c?d?e?$").search("a" * 2000 + "!") is not None
