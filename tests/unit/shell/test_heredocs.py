"""Heredoc bodies: what bash expands is read, whatever the tree says."""

import pytest

from orchestrator.shell.heredocs import find_missed
from tests.support.shell_reading import risks


@pytest.mark.parametrize(
    "command",
    [
        "cat <<E\n$(git push)\nE",
        "cat <<-E\n\t$(git push)\n\tE",
        "cat <<-E\n\t$(echo $(git push))\n\tE",
        "cat <<-E\n\t`git push`\n\tE",
        "cat <<E\na `git push` b\nE",
        "cat <<E\n${x:-$(git push)}\nE",
        "cat <<E\n\\\\$(git push)\nE",
    ],
)
def test_code_in_an_expanding_body_is_read(command):
    """An unquoted mark makes the body a template."""
    assert risks(command)


@pytest.mark.parametrize(
    "command",
    [
        "cat <<'E'\n$(git push) `git push`\nE",
        "cat <<\\E\n$(git push)\nE",
        'cat <<"E"\n$(git push)\nE',
        "cat <<-'E'\n\t$(git push)\n\tE",
        "cat <<E\na \\$(git push) \\`git push\\`\nE",
        "cat <<E\ngit push; rm -rf /\nE",
    ],
)
def test_quoted_body_and_escaped_marks_are_text(command):
    """A document may say anything."""
    assert risks(command) == set()


@pytest.mark.parametrize(
    ("text", "shape", "codes"),
    [
        ("a $(b) c", "a \ufffc c", ["b"]),
        ("$(a $(b))", "\ufffc", ["a $(b)"]),
        ("`a \\`b\\``", "\ufffc", ["a `b`"]),
        ("$x ${y} $1", "\ufffc \ufffc \ufffc", []),
        ("\\$(a) \\`", "\\$(a) \\`", []),
        ("5 $ x", "5 $ x", []),
    ],
)
def test_expansions_in_text_are_found(text, shape, codes):
    """With what runs, and where."""
    found = find_missed(text)
    assert (found.text, found.codes, found.broken) == (shape, codes, False)


@pytest.mark.parametrize("text", ["$(a", "`a", "$((a)"])
def test_expansion_without_an_end_is_broken(text):
    """The caller calls it opaque."""
    assert find_missed(text).broken
