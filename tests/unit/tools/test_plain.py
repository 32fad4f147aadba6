from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.tools.plain import MAX_OUTPUT, bounded, plain_content, plain_output
from orchestrator.tools.tool import Rendered


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP+q\x1b\\a", "a"),
        ("\x1b(Ba\x1b=b\x1bMc", "abc"),
        ("\x9b31mred", "red"),
        ("a\x1b]never ended\nnext", "a\nnext"),
        ("a\x00b\x07c\x7fd\x85e", "abcde"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("10%\r100%\r\n", "100%\n"),
        ("progress\r", "progress"),
        ("\r\r\r", ""),
        ("_\x08a_\x08b", "ab"),
        ("end\x1b", "end"),
        ("\ud800", "\ufffd"),
    ],
)
def test_command_output_is_what_a_terminal_would_leave(raw: str, plain: str) -> None:
    """Sequences and control characters go, overwritten lines end as they were left."""
    assert plain_output(raw) == plain


@given(st.text(st.characters(codec=None)))
def test_any_output_keeps_no_control_character(text: str) -> None:
    """Nothing but newline and tab is left of the control characters, and all can be encoded."""
    for plain in (plain_output(text), plain_content(text)):
        kinds = {unicodedata.category(c) for c in plain if c not in "\n\t"}
        assert not kinds & {"Cc", "Cs"}


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"], include_characters="\n\t")))
def test_any_printable_output_is_unchanged(text: str) -> None:
    """Cleaning takes nothing that could be read."""
    assert plain_output(text) == text
    assert plain_content(text) == text


def test_content_shows_control_characters() -> None:
    """A line with a hidden character does not look like one without."""
    assert (
        plain_content("a\x1b[1mb\0c\rd\x7f\x9b\r\n") == "a\u241b[1mb\u2400c\u240dd\u2421\\u009b\n"
    )


def test_output_is_bounded_and_never_empty() -> None:
    """Whatever the box sent."""
    assert bounded(Rendered("")).output == "(no output)"
    cut = bounded(Rendered("\u00e9" * MAX_OUTPUT, {"a": 1}, is_error=True))
    assert len(cut.output.encode()) < MAX_OUTPUT + 100
    assert f"of {2 * MAX_OUTPUT} bytes shown" in cut.output
    assert (cut.details, cut.is_error) == ({"a": 1}, True)
