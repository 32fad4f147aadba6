import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model.call_ids import MAX_LENGTH, PORTABLE, portable_id, portable_name, unused_id
from orchestrator.schema.ids import CallId


@given(st.text(min_size=1, max_size=600))
def test_portable_id_is_accepted_everywhere(text: str) -> None:
    """Letters, digits, dash and underscore, at most forty, always the same."""
    once = portable_id(CallId(text))
    assert PORTABLE.fullmatch(once)
    assert len(once) <= MAX_LENGTH
    assert portable_id(CallId(text)) == once
    assert portable_id(once) == once


def test_portable_ids_do_not_collide() -> None:
    """Two long ids that begin alike stay two."""
    head = "call_" + "x" * 440
    assert portable_id(CallId(head + "a")) != portable_id(CallId(head + "b"))


def test_id_that_is_fine_stays() -> None:
    """Nothing is renamed without need."""
    assert portable_id(CallId("toolu_01AbC-9")) == "toolu_01AbC-9"


def test_empty_or_taken_ids_are_numbered() -> None:
    """Every call gets an id of its own."""
    assert unused_id(CallId(""), set()) == "call_1"
    assert unused_id(CallId(""), {CallId("call_1")}) == "call_2"
    assert unused_id(CallId("a"), {CallId("a"), CallId("a_2")}) == "a_3"
    assert unused_id(CallId("b"), {CallId("a")}) == "b"


@pytest.mark.parametrize(
    ("name", "portable"),
    [
        ("bash", "bash"),
        ("mcp__server__tool-2", "mcp__server__tool-2"),
        ("functions.bash", "functions_bash"),
        ("", "_"),
        ("9lives", "_9lives"),
        ("r\u00e9ad\ud83d", "r_ad_"),
        ("x" * 200, "x" * 64),
        ("-" * 200, "_" + "-" * 63),
    ],
)
def test_name_that_a_model_made_up_goes_back_as_providers_take_it(name: str, portable: str) -> None:
    """Else the call that failed would refuse every later turn."""
    assert portable_name(name) == portable
