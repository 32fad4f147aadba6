"""From bytes of the tree back to characters of the command."""

import pytest

from orchestrator.shell.source import Anchor, Source


@pytest.mark.parametrize("text", ["ls -l", "écho '日本' x", "a\\\nb c", "x `a` `b`", "é\\\n\\\nü"])
def test_whole_tree_spans_the_whole_text(text):
    """Ends meet, whatever was mended and however wide the letters are."""
    source = Source(text)
    assert source.locate(0, len(source.data)) == (0, len(text))


def test_nested_text_is_located_through_its_anchor():
    """Verbatim code has exact spans, other code that of its word."""
    assert Source("b", Anchor((5, 9), 6)).locate(0, 1) == (6, 7)
    assert Source("b", Anchor((5, 9), None)).locate(0, 1) == (5, 9)
