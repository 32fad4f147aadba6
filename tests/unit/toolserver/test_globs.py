from __future__ import annotations

import fnmatch

import pytest
from globs import Glob, component_matches
from hypothesis import given
from hypothesis import strategies as st
from refusal import Refusal


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "deep/down/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/*.py", "x/src/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("**/test_*", "a/b/test_c", True),
        ("**", "a/b", True),
        ("src/**", "src/a/b", True),
        ("./*.py", "a.py", True),
        ("{a,b}/*.{py,js}", "b/x.js", True),
        ("{a,b}/*.{py,js}", "c/x.js", False),
        ("{a,{b,c}}x", "cx", True),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[]x", "[]x", True),
        (r"\*x", "*x", True),
        (r"\*x", "ax", False),
        (r"\{a}", "{a}", True),
        ("{a", "{a", True),
        (".*", ".env", True),
        ("*", ".env", True),
        ("?", "\u00e9", True),
    ],
)
def test_pattern_matches_as_documented(pattern: str, path: str, expected: bool) -> None:
    """The rules of the module's first lines."""
    assert Glob.parse(pattern).matches(path.split("/")) is expected


@pytest.mark.parametrize("pattern", ["../**", "a/../b", "{a,..}/b", "/etc/*", "{/etc,a}"])
def test_pattern_that_leaves_the_directory_is_refused(pattern: str) -> None:
    """A glob stays below the searched directory, braces expanded."""
    with pytest.raises(Refusal) as refused:
        Glob.parse(pattern)

    assert refused.value.code == "outside"


@pytest.mark.parametrize("pattern", ["", "a\0", "x" * 2000, "{a,b}" * 12])
def test_unusable_pattern_is_refused(pattern: str) -> None:
    """Empty, too long, or with too many alternatives."""
    with pytest.raises(Refusal) as refused:
        Glob.parse(pattern)

    assert refused.value.code == "invalid"


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=8))
def test_any_component_matches_as_the_standard_library_says(pattern: str, name: str) -> None:
    """The two-pointer matcher agrees with fnmatch's regular expressions."""
    assert component_matches(pattern, name) == fnmatch.fnmatchcase(name, pattern)


def test_pattern_made_to_explode_is_answered() -> None:
    """What takes a backtracking matcher years is no work here."""
    assert not component_matches("*a" * 40 + "b", "a" * 4000)
    assert not Glob.parse("**/a/" * 30 + "b").matches(["a"] * 400)
