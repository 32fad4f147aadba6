import json

import pytest

from orchestrator.errors import BoxError
from orchestrator.sandbox.results import parse_answer, wire_bytes
from orchestrator.sandbox.scripted import exec_outcome
from orchestrator.schema.request import ExecRequest, ReadRequest, to_wire

EXEC = dict(exec_outcome("hi\n").data)
RUNNING = {"running": True, "exit_code": None, "signal": None, "limit": None, "duration_ms": 1.0}
LOOKED = {
    **RUNNING, "text": "x", "start": 0, "next": 1, "lost": 0, "skipped": 0, "more": 0, "unread": 0,
    "why": "match",
}  # fmt: skip
TEXT = {
    "type": "text", "start": 1, "lines": 1, "total_lines": 1, "total_bytes": 1, "next_offset": None,
    "cut_lines": [],
}  # fmt: skip
GOOD = {
    "exec": EXEC,
    "read": {"type": "binary", "bytes": 3},
    "write": {"bytes": 1, "created": True, "diff": ""},
    "edit": {"replacements": 1, "lines": [3], "diff": "x"},
    "grep": {
        "matches": [{"path": "a", "line": 1, "text": "x", "cut": False, "context": False}],
        "total": 1,
        "limited": False,
        "notes": [],
    },
    "find": {"paths": ["a"], "total": 1, "limited": False, "notes": []},
    "ls": {
        "entries": [{"name": "a", "type": "link", "size": 1, "target": "b"}],
        "total": 1,
        "limited": False,
        "notes": [],
    },
    "process_start": LOOKED,
    "process_output": LOOKED,
    "process_input": LOOKED,
    "process_signal": LOOKED,
    "process_list": {
        "processes": [{**RUNNING, "handle": "a", "command": "x", "terminal": True, "unseen": 0}]
    },
    "resolve": {"path": "/a"},
}


def parsed(kind, answer):
    return parse_answer(kind, json.dumps(answer).encode())


@pytest.mark.parametrize("kind", GOOD)
def test_right_answer_passes_unchanged(kind):
    """What tools were promised is what they get, no field more."""
    outcome = parsed(kind, {"data": {**GOOD[kind], "surprise": 1}})

    assert outcome.data == GOOD[kind]


@pytest.mark.parametrize(("kind", "field"), [(k, f) for k in GOOD for f in GOOD[k] if f != "notes"])
@pytest.mark.parametrize(
    "lie", [None, {"a": 1}, [[1]], "x" * 20_000_000], ids=["null", "object", "list", "huge"]
)
def test_lie_about_any_field_is_a_breach(kind, field, lie):
    """Nothing that a tool would stumble over comes through."""
    optional = {"exit_code", "signal", "spill", "limit", "limit_note", "full"}
    if lie is None and field in optional:
        return
    with pytest.raises(BoxError, match=kind):
        parsed(kind, {"data": {**GOOD[kind], field: lie}})


@pytest.mark.parametrize("kind", GOOD)
def test_missing_data_is_a_breach(kind):
    """An answer without data and without error is no answer."""
    for answer in ({}, {"data": None}, {"data": {}}):
        with pytest.raises(BoxError):
            parsed(kind, answer)


@pytest.mark.parametrize(
    "payload", [b"", b"[1]", b"nul", b"\xff", b"[" * 100_000, b'{"error": 5}', b'{"error": "x"}']
)
def test_what_is_no_answer_is_a_breach(payload):
    """Strict from the first byte."""
    with pytest.raises(BoxError):
        parse_answer("exec", payload)


def test_numbers_that_are_none_are_a_breach():
    """JSON of a careless kind has NaN; ours has not."""
    payload = json.dumps({"data": {**EXEC, "duration_ms": float("nan")}}).encode()

    with pytest.raises(BoxError):
        parse_answer("exec", payload)


def test_text_that_cannot_be_encoded_is_a_breach():
    """A lone surrogate would break whoever writes it down."""
    with pytest.raises(BoxError):
        parsed("exec", {"data": {**EXEC, "head": "\ud800"}})


def test_error_is_bounded_text():
    """An error message is no way in either."""
    outcome = parsed("exec", {"error": "\ud800" + "x" * 100_000, "code": "failed"})

    assert outcome.code == "failed"
    assert len(outcome.error) <= 16_384
    outcome.error.encode()


def test_request_goes_out_as_it_was_judged():
    """The wire form is the recorded form."""
    request = ReadRequest("/workspace/ü")

    assert json.loads(wire_bytes(to_wire(request))) == to_wire(request)


@pytest.mark.parametrize("command", ["printf '\udcff'", "echo \0", "ü", ""])
def test_command_that_is_no_text_goes_out_as_it_is(command):
    """Bytes that are not UTF-8 travel as halves of surrogate pairs."""
    wire = to_wire(ExecRequest(command, "/workspace", 1.0))

    assert json.loads(wire_bytes(wire)) == wire


@pytest.mark.parametrize(
    "payload",
    [
        b'{"data": {}}\0text',
        b'{"data": []}\0text',
        b"{}\0text",
        b"\0text",
        json.dumps({"data": {**TEXT, "text": "once"}}).encode() + b"\0again",
        json.dumps({"data": {**TEXT, "text": None}}).encode() + b"\0again",
    ],
)
def test_text_that_belongs_nowhere_is_a_breach(payload):
    """One place, and nothing there before."""
    with pytest.raises(BoxError):
        parse_answer("read", payload)


@pytest.mark.parametrize("text", [b"\xff", b"\xed\xa0\x80", b"x" * 300_000])
def test_bad_text_beside_the_json_is_a_breach(text):
    """It is held to the same as a text in the JSON: UTF-8, and no longer than any."""
    with pytest.raises(BoxError):
        parse_answer("read", json.dumps({"data": TEXT}).encode() + b"\0" + text)
