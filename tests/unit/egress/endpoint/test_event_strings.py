"""Strings of events and what joins them."""

import json

import pytest

from orchestrator.egress.endpoint.event_strings import strings_in


def said(event):
    return [(piece.path, event[piece.start : piece.end]) for piece in strings_in(event)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_strings_stand_where_the_event_has_them(end):
    """Whatever ends its lines, over more than one data line too, escapes as they are."""
    event = f'event: x{end}: "no"{end}data: {{"a": ["b\\"c",{end}data:"\\u00e9"]}}{end}{end}'

    assert said(event) == [(("a",), 'b\\"c'), (("a",), "\\u00e9")]


def test_index_tells_apart_wherever_it_stands_in_its_object():
    """A block's, a choice's, a call's in a choice."""
    first = {"delta": {"text": "t"}, "index": 1}
    second = {"choices": [{"index": 2, "delta": {"tool_calls": [{"index": 3, "arguments": "x"}]}}]}

    assert said(f"data: {json.dumps(first)}\n\n") == [((("index", 1), "text"), "t")]
    assert said(f"data: {json.dumps(second)}\n\n") == [
        ((("index", 2), ("index", 3), "arguments"), "x")
    ]


def test_names_and_what_no_client_joins_are_left_out():
    """They end in the same letters in every event, which would wait for nothing."""
    assert said('data: {"type": "a", "id": "b", "type": "c", "text": "d"}\n\n') == [
        (("text",), "d")
    ]


def test_mark_at_the_stream_s_beginning_hides_nothing():
    """Clients drop it."""
    assert said('\xef\xbb\xbfdata: {"text": "d"}\n\n') == [(("text",), "d")]


def test_number_that_is_too_long_for_python_hides_nothing():
    """Other languages read it."""
    assert said(f'data: {{"n": {"9" * 5000}, "text": "d"}}\n\n') == [(("text",), "d")]


@pytest.mark.parametrize("data", ["[DONE]", '{"a": "b', '{"a": "b\ndata: c"}', "[" * 100_000, ""])
def test_what_is_no_json_has_no_strings(data):
    """The end of a stream, a cut, a nest too deep."""
    assert said(f"data: {data}\n\n") == []
