"""Rows that a narrower window wraps again are counted, where a terminal does that."""

import pytest
from prompt_toolkit.layout.screen import Char, Screen

from orchestrator.cli.chat.resizing import added_rows, wraps_again


def drawn(*rows):
    screen = Screen()
    for at, row in enumerate(rows):
        for column, char in enumerate(row):
            screen.data_buffer[at][column] = Char(char)
    return screen


@pytest.mark.parametrize(
    ("rows", "cursor", "columns", "added"),
    [
        (["x" * 30, "» ab"], (4, 1), 60, 0),
        (["x" * 30, "» ab"], (4, 1), 30, 0),
        (["x" * 30, "» ab"], (4, 1), 29, 1),
        (["x" * 30, "x" * 30, "» ab"], (4, 2), 10, 4),
        (["x" * 30 + " " * 30, "» ab"], (4, 1), 30, 0),
        (["", "» ab"], (4, 1), 10, 0),
        (["x" * 30], (25, 0), 10, 2),
        (["» ab", "x" * 30], (4, 0), 10, 0),
    ],
)
def test_rows_above_the_cursor_count(rows, cursor, columns, added):
    """What is below it does not; blanks at the end fill nothing."""
    assert added_rows(drawn(*rows), cursor, columns) == added


@pytest.mark.parametrize(
    ("environ", "wraps"),
    [
        ({"TERM": "tmux-256color"}, True),
        ({"TERM": "screen-256color", "TMUX": "/tmp/x,1,0"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "screen"}, False),
        ({"TERM": "screen", "VTE_VERSION": "7600"}, False),
        ({"TERM": "xterm-256color", "KONSOLE_VERSION": "230804"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode"}, True),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "elsewhere"}, False),
        ({}, False),
    ],
)
def test_terminals_are_known_by_what_they_say(environ, wraps):
    """One that nobody knows loses no line to a guess."""
    assert wraps_again(environ) is wraps
