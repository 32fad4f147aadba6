import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.workspace.windows_names import literal_names, other_readings

NAMES = literal_names([".envrc", "{.vscode,.idea}/**", "*.iml", "lint-staged.config.*", "a/b.json"])


def test_names_of_patterns_are_those_without_wildcards():
    """What may be anything has no short name that could be known."""
    assert frozenset({".envrc", ".vscode", ".idea", "a", "b.json"}) == NAMES


@pytest.mark.parametrize(
    ("path", "others"),
    [
        ("src/app.py", ()),
        ("src/.envrc", ()),
        (".envrc.", (".envrc",)),
        (".envrc. .", (".envrc",)),
        ("a /.envrc:s:$DATA", ("a/.envrc",)),
        ("a\\.idea\\x", ("a/.idea/x",)),
        ("ENVRC~1", (".envrc",)),
        ("VSCODE~12/x", (".vscode/x",)),
        ("vs12af~1/x", (".vscode/x",)),
        ("B~1.JSO", ("b.json",)),
        ("B~1.JS", ()),
        ("ENVR~1", ()),
        ("...", ()),
    ],
)
def test_readings_are_what_windows_would_open(path, others):
    """Plain paths have none."""
    assert other_readings(path, NAMES) == others


@given(st.text(alphabet="aA.:~ \\/1envrc", max_size=200))
def test_no_path_takes_for_ever(path):
    """However odd it is."""
    readings = other_readings(path, NAMES)

    assert readings is None or len(readings) <= 64
    assert path not in (readings or ())


def test_path_of_too_many_readings_is_told_apart():
    """None of them may be the one that nobody looked at."""
    assert other_readings("/".join(["ENVRC~1"] * 9), NAMES) is None
