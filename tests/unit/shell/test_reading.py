"""Findings are kept once, and too much is too much."""

import pytest

from orchestrator.shell.analysis import Word
from orchestrator.shell.reading import MAX_COMMANDS, OverLimitError, Reading, anchor_in


def test_same_finding_is_kept_once():
    """A loop does not repeat itself."""
    reading = Reading()
    for _ in range(3):
        reading.report("opaque", "x", (0, 1))
    assert [(item.risk, item.severity) for item in reading.findings.values()] == [
        ("opaque", "high")
    ]


def test_more_commands_than_the_limit_raise():
    """The analysis turns it into a finding."""
    reading = Reading()
    for _ in range(MAX_COMMANDS):
        reading.step()
    with pytest.raises(OverLimitError):
        reading.step()


def test_anchor_is_exact_only_where_the_code_stands_verbatim():
    """Escapes in between make an offset meaningless."""
    plain = Word("a b", "'a b'", (4, 9), shape="a b")
    escaped = Word("a b", "a\\ b", (4, 8), shape="a b")
    assert (anchor_in(plain, "a b").start, anchor_in(escaped, "a b").start) == (5, None)
