"""sed scripts."""

import pytest

from orchestrator.shell.languages.sed_code import read_sed


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("1e git push", [("shell", "git push")]),
        ("/x/e", [("shell", "\ufffc")]),
        ("s/a/b/e", [("shell", "b"), ("remote_code", "")]),
        ("s|a|b|ge", [("shell", "b"), ("remote_code", "")]),
        ("s/a/b/w f", [("write", "f")]),
        ("s/[/]x/git push/e", [("shell", "git push"), ("remote_code", "")]),
        ("s/[^]/]/y/e", [("shell", "y"), ("remote_code", "")]),
        ("s/a/b\\/c/e", [("shell", "b\\/c"), ("remote_code", "")]),
        ("1i\\\ntext\nw f", [("write", "f")]),
        ("w f", [("write", "f")]),
        ("$!{w f\n}", [("write", "f")]),
        ("r f", [("read", "f")]),
        ("1,/x/w f", [("write", "f")]),
        ("\\,x,w f", [("write", "f")]),
        ("s/a/b/;w f", [("write", "f")]),
        ("s/a/b/\ufffc", [("opaque", "")]),
        ("\ufffc", [("opaque", "")]),
    ],
)
def test_command_that_leaves_the_stream_is_found(script, expected):
    """Behind any address, with any delimiter."""
    assert [(item.kind, item.text) for item in read_sed(script)] == expected


@pytest.mark.parametrize(
    "script",
    [
        "s/we/ew/g",
        "y/ew/we/",
        "/^e/d",
        "$a echo e w",
        "1i\\\nw f",
        ":e;N;be",
        "s/e/\\/w f/",
        "s/[/]e/x/",
        "/a\\/e/d",
        "s/\ufffc/\ufffc/g",
        "1,5p;q",
        "# e rm",
        "=;n;p",
    ],
)
def test_letters_inside_patterns_and_text_mean_nothing(script):
    """Only commands are commands."""
    assert read_sed(script) == []
