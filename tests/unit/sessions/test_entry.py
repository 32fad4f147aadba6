"""Lines of a session file: what is written is read back, what is no entry is not taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.errors import SessionError
from orchestrator.sessions.entry import (
    ENTRY_TYPES,
    encode_entry,
    encode_header,
    mend_text,
    parse_entry,
    parse_header,
)

from .conftest import HEADER, entry


def test_header_reads_back() -> None:
    """The first line holds the whole header."""
    line = encode_header(HEADER)

    assert line.endswith(b"\n")
    assert json.loads(line)["type"] == "session"
    assert parse_header(json.loads(line)) == HEADER


@pytest.mark.parametrize("entry_type", sorted(ENTRY_TYPES))
def test_entry_reads_back(entry_type: str) -> None:
    """Every type survives."""
    one = entry("a1", "p1", type=entry_type, body={"text": "ü\u2028\u0085\x00"})

    line = encode_entry(one)

    assert line.count(b"\n") == 1
    assert parse_entry(json.loads(line)) == one


@pytest.mark.parametrize(
    "change",
    [
        {"id": "../../elsewhere"},
        {"id": "/home/me/project"},
        {"id": ".."},
        {"id": "0123456789ab/"},
        {"id": "0123456789ab\n"},
        {"type": "custom"},
        {"id": ""},
        {"id": 7},
        {"version": "1"},
        {"version": True},
        {"cwd": None},
        {"policy_digest": 1},
    ],
)
def test_line_with_a_bad_field_is_no_header(change: dict[str, Any]) -> None:
    """A header is taken whole or not at all."""
    assert parse_header({**json.loads(encode_header(HEADER)), **change}) is None


@pytest.mark.parametrize(
    "change",
    [
        {"type": "other"},
        {"type": []},
        {"id": ""},
        {"id": 7},
        {"parent": 7},
        {"time": None},
        {"body": []},
    ],
)
def test_line_with_a_bad_field_is_no_entry(change: dict[str, Any]) -> None:
    """A damaged entry is none."""
    assert parse_entry({**json.loads(encode_entry(entry("a1", None))), **change}) is None


@pytest.mark.parametrize("data", [None, [], "x", 7])
def test_other_json_is_neither(data: object) -> None:
    """A line may hold anything."""
    assert parse_header(data) is None
    assert parse_entry(data) is None


@pytest.mark.parametrize("body", [{"x": object()}, {"x": float("nan")}, {"x": {1, 2}}])
def test_body_that_is_no_json_is_refused(body: dict[str, Any]) -> None:
    """What could not be read back is not written."""
    with pytest.raises(SessionError, match="expected JSON data"):
        encode_entry(entry("a1", None, type="custom", body=body))


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("plain 🎉", "plain 🎉"),
        ("half \ud83d", "half \ufffd"),
        ("\udf89 half", "\ufffd half"),
        ("two halves \ud83c\udf89", "two halves 🎉"),
        ({"\ud83d": ["\ud83d", 1, None]}, {"\ufffd": ["\ufffd", 1, None]}),
        (("a",), ["a"]),
    ],
)
def test_half_characters_are_mended_visibly(text: object, mended: object) -> None:
    """Whatever was cut in half, the file and the request are valid UTF-8."""
    assert mend_text(text) == mended
