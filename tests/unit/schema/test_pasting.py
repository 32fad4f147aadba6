"""What is taken for pasted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.schema.pasting import PASTE_BEGIN, PASTE_END, is_pasted, without_marks


@pytest.mark.parametrize(
    "keys", [f"{PASTE_BEGIN}y", f"y{PASTE_END}", "y\rn", "y\ny\n", "\ry", "text\ny\n", "y\n\n"]
)
def test_marks_and_lines_behind_an_enter_are_pasted(keys):
    assert is_pasted(keys)


@pytest.mark.parametrize("keys", ["y", "y\r", "y\n", "y\r\n", "n not now\r", "\r", "", "\x1b[A"])
def test_keys_up_to_an_enter_are_pressed(keys):
    assert not is_pasted(keys)


def test_marks_are_taken_out_until_none_is_left():
    assert without_marks("a\x1b[20\x1b[201~1~b\x1b[200~c") == "abc"


def test_marks_in_marks_in_marks_are_taken_out_however_many():
    """In one pass: a pasted page may be made of nothing else."""
    depth = 200_000
    inner = "\x1b[20" * depth + "1~" * depth
    assert without_marks(f"a{inner}b") == "ab"


@given(st.lists(st.sampled_from(["\x1b", "[20", "0", "1", "~", "a", PASTE_BEGIN, PASTE_END])))
def test_no_mark_is_left(pieces):
    """As if they were taken out again and again."""
    text = wanted = "".join(pieces)
    while PASTE_BEGIN in wanted or PASTE_END in wanted:
        wanted = wanted.replace(PASTE_BEGIN, "").replace(PASTE_END, "")
    assert without_marks(text) == wanted
