"""What a person sees is what the text holds."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.schema.terminal_text import escape_terminal, wrap_cells


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("a\x9b31mb", r"a\x9b31mb"),
        ("safe\rrm -rf /", r"safe\rrm -rf /"),
        ("a\u202eb", r"a\u202eb"),
        ("a\u2066b\u2069", r"a\u2066b\u2069"),
        ("ze\u200bro", r"ze\u200bro"),
        ("line\u2028two", r"line\u2028two"),
        ("half \ud83d emoji", r"half \ud83d emoji"),
        ("tag\U000e0041", r"tag\U000e0041"),
        ("rm\xa0x", r"rm\xa0x"),
        ("\x08\x7f\x00", r"\x08\x7f\x00"),
        ("a\tb\n", r"a\tb\n"),
    ],
)
def test_unsafe_text_is_shown_as_escapes(text: str, shown: str) -> None:
    """Nothing unsafe reaches the terminal, and nothing is dropped."""
    assert escape_terminal(text) == shown


def test_plain_text_of_any_script_stays() -> None:
    """Letters, marks, symbols and emoji are shown as they are."""
    text = "echo 'naïve e\u0301 日本語 العربية 🎉 \\x1b' | tr a b"

    assert escape_terminal(text) == text


def test_block_keeps_line_feeds_and_tabs_alone() -> None:
    """A diff keeps its shape; a carriage return and a vertical tab are escaped in it too."""
    assert escape_terminal("a\tb\r\n\x0bc\n", keep_newlines=True) == "a\tb\\r\n\\x0bc\n"


@pytest.mark.parametrize("category", ["Cc", "Cf", "Cs", "Zl", "Zp", "Zs"])
def test_whole_unicode_category_is_escaped(category: str) -> None:
    """No code point of a dangerous category slips through, as this Python's Unicode knows it."""
    chars = (chr(code) for code in range(sys.maxunicode + 1))
    left = [c for c in chars if unicodedata.category(c) == category and escape_terminal(c) == c]

    assert left == ([" "] if category == "Zs" else [])


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_comes_out_printable_and_encodable(text: str) -> None:
    """The result has no control character, no surrogate, and is stable when escaped again."""
    shown = escape_terminal(text)

    shown.encode()
    assert not any(unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for c in shown)
    assert escape_terminal(shown) == shown


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", [""]),
        ("abcd", ["abcd"]),
        ("abcde", ["abcd", "e"]),
        ("日本語", ["日本", "語"]),
        ("a日本", ["a日", "本"]),
        ("e\u0301e\u0301e\u0301e\u0301x", ["e\u0301e\u0301e\u0301e\u0301", "x"]),
        ("a\tb", ["a   ", "b"]),
    ],
)
def test_pieces_fill_at_most_the_screen(text: str, pieces: list[str]) -> None:
    """Wide letters take two columns, marks none, a tab what blanks it is shown as."""
    assert wrap_cells(text, 4) == pieces


@given(st.text(), st.integers(1, 9))
def test_wrapping_loses_nothing(text: str, width: int) -> None:
    """All characters come back in order."""
    assert "".join(wrap_cells(text, width)) == text.expandtabs(4)


def test_marks_stacked_on_a_letter_are_shown_as_escapes():
    """They would be drawn over other lines; what a language needs stays."""
    assert escape_terminal("e\u0301\u0323") == "e\u0301\u0323"
    assert escape_terminal("e" + "\u0301" * 4 + "x") == "e" + "\\u0301" * 4 + "x"
