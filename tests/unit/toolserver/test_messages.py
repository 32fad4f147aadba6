import json

import pytest
from messages import answer_bytes, parse_request

from orchestrator.sandbox.results import parse_answer, wire_bytes
from orchestrator.schema.request import ExecRequest, WriteRequest, to_wire

DATA = {
    "type": "text", "start": 1, "lines": 1, "total_lines": 1, "total_bytes": 1, "next_offset": None,
    "cut_lines": [],
}  # fmt: skip


@pytest.mark.parametrize(
    "request_",
    [
        WriteRequest("/workspace/a", 'one "quoted"\n\0two\u00fc'),
        WriteRequest("/workspace/a", ""),
        WriteRequest("/workspace/a", "\ud800"),
        ExecRequest("printf '\udcff'", "/workspace", 1.0),
        ExecRequest("echo \0", "/workspace", 1.0),
    ],
)
def test_request_comes_out_as_it_was_judged(request_):
    """Whatever is in it, a NUL and half of a surrogate pair too."""
    assert parse_request(wire_bytes(to_wire(request_))) == to_wire(request_)


@pytest.mark.parametrize("text", ['a "quoted"\n\0\u00fc', ""])
def test_text_comes_out_as_it_was_read(text):
    """It is the data's, as if it had been written in its place."""
    data = {**DATA, "text": text}

    assert parse_answer("read", answer_bytes({"data": data})).data == data


def test_text_that_cannot_be_encoded_is_replaced():
    """To the host it would be a breach, and the end of the session."""
    found = parse_answer("read", answer_bytes({"data": {**DATA, "text": "a\ud800"}}))

    assert found.data["text"] == "a?"


@pytest.mark.parametrize(
    "answer", [{"data": {"bytes": 3}}, {"data": {"text": None}}, {"error": "x", "code": "y"}]
)
def test_answer_without_a_text_is_json_alone(answer):
    """Nothing is beside it."""
    assert json.loads(answer_bytes(answer)) == answer
