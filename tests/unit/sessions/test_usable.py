"""What can be told of entries that a file holds."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.schema.codec import encode_message
from orchestrator.schema.message import Image, Text, ToolResult, UserMessage
from orchestrator.sessions.usable import is_usable

from .conftest import assistant, entry, tool, user

PICTURED = ToolResult("c", "bash", "ok", images=(Image("image/png", "AAAA"),))  # type: ignore[arg-type]
WHOLE = [
    encode_message(UserMessage((Image("image/png", "AAAA"), Text("x")))),
    encode_message(assistant("x", "c")),
    encode_message(tool(PICTURED)),
    {**encode_message(assistant()), "content": [{"type": "thinking", "text": "", "provider": "p"}]},
]

# A result holds pictures alone: nothing reads what they say they are.
del WHOLE[2]["results"][0]["images"][0]["type"]


def spoiled(value: Any) -> list[Any]:
    """Return copies of JSON data, in each of which one leaf is a list that nothing expects."""
    if isinstance(value, dict):
        return [{**value, key: worse} for key, item in value.items() for worse in spoiled(item)]
    if isinstance(value, list) and value:
        return [
            [*value[:at], worse, *value[at + 1 :]]
            for at, item in enumerate(value)
            for worse in spoiled(item)
        ]
    return [["?"]] if not isinstance(value, bool | None) else []


@pytest.mark.parametrize("body", WHOLE)
def test_whole_messages_are_usable(body: dict[str, Any]) -> None:
    """As messages and as replacements; so is an edit that leaves out."""
    assert is_usable(entry("a", None, body=body))
    edit = {"target": "a", "replacement": body}
    assert is_usable(entry("b", "a", type="context_edit", body=edit))
    assert is_usable(entry("b", "a", type="context_edit", body={**edit, "replacement": None}))


@pytest.mark.parametrize("body", [worse for body in WHOLE for worse in spoiled(body)])
def test_no_field_of_another_type_is_told(body: dict[str, Any]) -> None:
    """Decoding takes types on trust; a provider, or our own counting, would fail on them."""
    assert not is_usable(entry("a", None, body=body))


LINKED: dict[str, dict[str, Any]] = {
    "leaf": {"target": "a"},
    "label": {"target": "a", "label": "x"},
    "context_edit": {"target": "a", "replacement": None},
    "compaction": {"summary": "s", "first_kept": "a"},
    "branch_summary": {"summary": "s", "from": "a"},
    "approval": {"waiting": ["a"], "taken_up": []},
    "custom": {"from": "a"},
}


@pytest.mark.parametrize("kind", LINKED)
def test_entries_of_each_type_are_usable(kind: Any) -> None:
    assert is_usable(entry("b", "a", type=kind, body=LINKED[kind]))


@pytest.mark.parametrize(
    ("kind", "name", "worse"),
    [
        (kind, name, worse)
        for kind, body in LINKED.items()
        for name in body
        for worse in (5, True, {"a": 1}, [["?"]], "x")
        if name not in {"label", "replacement"}
        if not (isinstance(worse, list) and name in {"waiting", "taken_up"})
        if not (worse == "x" and name not in {"waiting", "taken_up"})
    ],
)
def test_no_entry_leads_anywhere_by_another_type(kind: Any, name: str, worse: Any) -> None:
    """It would be looked up when the session is opened, and then at every request."""
    assert not is_usable(entry("b", "a", type=kind, body={**LINKED[kind], name: worse}))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("leaf", "target"),
        ("label", "target"),
        ("context_edit", "target"),
        ("compaction", "summary"),
        ("branch_summary", "summary"),
    ],
)
def test_what_an_entry_is_about_is_in_it(kind: Any, name: str) -> None:
    """A summary without words would take the place of everything before it."""
    body = {key: value for key, value in LINKED[kind].items() if key != name}

    assert not is_usable(entry("b", "a", type=kind, body=body))


@pytest.mark.parametrize(
    ("media_type", "data"),
    [
        ("image/tiff", "AAAA"),
        ("", "AAAA"),
        ("image/png", "A"),
        ("image/png", "AA!A"),
        ("image/png", ""),
    ],
)
def test_picture_that_every_provider_would_refuse_is_not_told(media_type: str, data: str) -> None:
    message = UserMessage((Image(media_type, data), Text("x")))  # type: ignore[arg-type]

    assert not is_usable(entry("a", None, body=encode_message(message)))


def test_what_is_not_told_is_always_usable() -> None:
    """It is read where it is used."""
    assert is_usable(entry("a", None, type="custom", body={"replacement": 5, "role": 3}))
    assert is_usable(entry("a", None, body=encode_message(user(""))))
