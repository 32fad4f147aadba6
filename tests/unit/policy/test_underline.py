"""The offending part, underlined."""

from orchestrator.policy.underline import MAX_WIDTH, underline


def test_carets_stand_under_the_span():
    """The eye goes where the problem is."""
    assert underline("ls; rm -rf src", (4, 14)) == ["ls; rm -rf src", "    ^^^^^^^^^^"]


def test_only_the_lines_of_the_span_are_shown():
    """A long script is not printed for one line of it."""
    assert underline("a\nbb cc\nd", (5, 7)) == ["bb cc", "   ^^"]
    assert underline("ab\ncd", (1, 4)) == ["ab", " ^", "cd", "^"]


def test_hidden_characters_are_shown_and_counted():
    """Escapes take the columns they are seen in."""
    assert underline("\x1b[2K rm", (5, 7)) == ["\\x1b[2K rm", "        ^^"]
    assert underline("\u4e2d rm", (2, 4)) == ["\u4e2d rm", "   ^^"]
    assert underline("e\u0301 rm", (3, 5)) == ["e\u0301 rm", "  ^^"]


def test_without_a_span_everything_is_shown_plain():
    """Also for a span that marks nothing."""
    assert underline("a\nb", None) == ["a", "b"]
    assert underline("a\nb", (1, 1)) == ["a", "b"]
    assert underline("a", (5, 9)) == ["a"]


def test_long_lines_are_cut_around_the_span():
    """What is underlined stays on the screen."""
    line, marks = underline("x" * 300 + "rm" + "y" * 300, (300, 302))

    assert len(line) <= MAX_WIDTH
    assert line[marks.index("^") : len(marks)] == "rm"
    assert len(underline("x" * 500, None)[0]) == MAX_WIDTH
