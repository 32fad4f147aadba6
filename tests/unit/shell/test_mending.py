"""Rewrites before parsing change nothing that bash would do."""

import pytest

from orchestrator.shell.mending import Edit, undo_edits
from tests.support.shell_reading import argvs, findings, risks


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("ls\n\\rm -rf src", {"destructive"}),
        ("ls\n\\git push", {"publishes"}),
        ("cat a\n\\/bin/rm -r b", {"destructive"}),
        ("ls\n\\ls", set()),
    ],
)
def test_line_that_starts_with_a_backslash_is_a_command_of_its_own(command, found):
    """tree-sitter alone would take it for an argument of the line before."""
    assert risks(command) == found


def test_second_backtick_substitution_is_read_apart():
    """Two on one line are not one."""
    assert "destructive" in risks("echo `date` `rm -rf src`")


def test_continued_lines_are_joined_as_bash_joins_them():
    """A backslash-newline vanishes, except in single quotes."""
    assert argvs("g\\\nit pu\\\nsh")[0] == ["git", "push"]
    assert argvs("x 'a\\\nb'")[0] == ["x", "a\\\nb"]


def test_span_after_joined_lines_counts_the_text_as_given():
    """What a person is shown is the command they were given."""
    command = "echo \\\n a; rm \\\n -rf src"
    (finding, *_) = findings(command)
    assert command[finding.span[0] : finding.span[1]] == "rm \\\n -rf src"


def test_offsets_are_traced_back_through_edits():
    """From an edit on, offsets shift; before it they stay."""
    edits = [Edit(3, 2), Edit(7, 4)]
    assert [undo_edits(offset, edits) for offset in (0, 2, 3, 6, 7)] == [0, 2, 5, 8, 11]
