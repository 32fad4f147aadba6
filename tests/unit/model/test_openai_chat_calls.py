from typing import Any

import pytest

from orchestrator.model.answer import CallPieces
from orchestrator.model.openai_chat_calls import CallFold


def folded(*entries: dict[str, Any]) -> list[tuple[str, str, str]]:
    fold = CallFold()
    for entry in entries:
        fold.take(entry)
    return [(call.id, call.name, call.arguments) for call in fold.pieces]


def entry(name: str = "", arguments: Any = "", **more: Any) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"function": function} | more


def test_numbered_deltas_make_their_calls() -> None:
    """The documented form."""
    assert folded(
        entry("a", id="1", index=0),
        entry("b", id="2", index=1),
        entry(arguments='{"x"', index=0),
        entry(arguments="{}", index=1),
        entry(arguments=":1}", index=0),
    ) == [("1", "a", '{"x":1}'), ("2", "b", "{}")]


def test_deltas_without_index_make_one_call() -> None:
    """Pieces belong to the call before them."""
    deltas = (entry("a", '{"x"', id="1"), entry(arguments=":1"), entry(arguments="}"))
    assert folded(*deltas) == [("1", "a", '{"x":1}')]


def test_two_calls_without_index_are_told_apart_by_id() -> None:
    """Arguments of parallel calls never mix."""
    assert folded(
        entry("a", '{"x"', id="1"),
        entry("b", '{"y"', id="2"),
        entry(arguments=":1}", id="1"),
        entry(arguments=":2}", id="2"),
    ) == [("1", "a", '{"x":1}'), ("2", "b", '{"y":2}')]


def test_two_ids_on_one_index_are_two_calls() -> None:
    """Some servers give every call the number nought."""
    assert folded(
        entry("a", '{"x":', id="1", index=0),
        entry(arguments="1}", index=0),
        entry("b", '{"y":', id="2", index=0),
        entry(arguments="2}", index=0),
    ) == [("1", "a", '{"x":1}'), ("2", "b", '{"y":2}')]


def test_name_repeated_in_each_delta_is_one_call() -> None:
    """A repeated name begins nothing, also after the arguments are whole."""
    assert folded(
        entry("a", '{"x"', index=0), entry("a", ":1}", index=0), entry("a", "", index=0)
    ) == [("", "a", '{"x":1}')]


def test_whole_calls_without_ids_are_told_apart_by_being_whole() -> None:
    """A new name after whole arguments begins a new call."""
    assert folded(entry("a", '{"x":1}', index=0), entry("a", '{"x":2}', index=0)) == [
        ("", "a", '{"x":1}'),
        ("", "a", '{"x":2}'),
    ]


def test_id_that_comes_late_belongs_to_the_call_at_its_index() -> None:
    """An id after the name names the same call."""
    assert folded(entry("a", "", index=0), entry(arguments="{}", id="1", index=0)) == [
        ("1", "a", "{}")
    ]


def test_arguments_that_are_an_object_become_text() -> None:
    """Some servers forget to encode them."""
    assert folded(entry("a", {"x": 1}, id="1")) == [("1", "a", '{"x": 1}')]


def test_null_fields_are_nothing() -> None:
    """Null is how servers say nothing."""
    fold = CallFold()
    fold.take({"id": None, "index": None, "function": {"name": None, "arguments": None}})
    fold.take({"id": None, "index": None, "function": None})
    assert fold.pieces == [CallPieces("", "", "")]


@pytest.mark.parametrize(
    ("entries", "calls"),
    [
        (
            [entry("a", id="1", index=0), entry(arguments='{"x"', id="2", index=0),
             entry(arguments=":1}", id="3", index=0)],
            [("1", "a", '{"x":1}')],
        ),
        (
            [entry("a", '{"x"', id="1", index=0), entry("a", ":1}", id="2", index=0)],
            [("1", "a", '{"x":1}')],
        ),
        (
            [entry("a", id="1", index=0), entry("b", id="2", index=0),
             entry(arguments="{}", id="1", index=0)],
            [("1", "a", "{}"), ("2", "b", "")],
        ),
        (
            [entry("a", '{"x":1}', id="1", index=0), entry("a", '{"x":2}', id="1", index=1)],
            [("1", "a", '{"x":1}'), ("1", "a", '{"x":2}')],
        ),
        (
            [entry("a", '{"x":1}', id="1"), entry("b", '{"x":2}', id="1")],
            [("1", "a", '{"x":1}'), ("1", "b", '{"x":2}')],
        ),
        (
            [entry("a", "{}", id="1", index=0), entry("", "", id="1", index=3)],
            [("1", "a", "{}")],
        ),
    ],
    ids=["new ids", "new ids, same name", "two ids", "one id, two indexes", "one id", "late index"],
)  # fmt: skip
def test_ids_that_change_or_come_twice(
    entries: list[dict[str, Any]], calls: list[tuple[str, str, str]]
) -> None:
    """A call is told by what begins and ends it where its id tells nothing."""
    assert folded(*entries) == calls


@pytest.mark.parametrize(
    "names",
    [("read", "_file"), ("read", "read_file"), ("", "read_file"), ("read_file", "read_file")],
)
def test_name_that_comes_later_or_in_pieces(names: tuple[str, str]) -> None:
    first, second = (entry(name, index=0) for name in names)
    assert folded(first, second, entry(arguments="{}", index=0)) == [("", "read_file", "{}")]
