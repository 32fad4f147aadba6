from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model.call_ids import MAX_LENGTH, PORTABLE, portable_id, unused_id
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
