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


@pytest.mark.parametrize(
    "character", ["\U000e0001", "\U000de9f5", "\U0010ffff", "\U00010000", "\u3000"]
)
@pytest.mark.parametrize("before", ["{", "echo {1", "x[", "$", "${", "<<"])
def test_rare_character_does_not_end_the_process(before, character):
    """The parser's scanner read beyond a table; what it sees instead is as long, and is not told."""
    source = Source(f"{before}{character}\ngit push\n")

    assert source.text(0, len(source.data)) == f"{before}{character}\ngit push\n"
    assert source.locate(0, len(source.data)) == (0, len(before) + 11)
