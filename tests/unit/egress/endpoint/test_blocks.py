"""The parts of a conversation, wherever they stand."""

import pytest

from orchestrator.egress.endpoint.blocks import blocks
from orchestrator.egress.endpoint.routes import find_route

CHAT = find_route("POST", "/chat/completions", {})
GEMINI = find_route("POST", "/v1beta/models/g:generateContent", {})
MARK = {"mark": 1}


@pytest.mark.parametrize(
    ("route", "data"),
    [
        (CHAT, {"messages": [{"content": [MARK]}]}),
        (CHAT, {"messages": {"content": MARK}}),
        (CHAT, {"input": [{"content": [{"file": MARK}]}]}),
        (CHAT, {"input": [{"content": [{"content": [{"source": MARK}]}]}]}),
        (GEMINI, {"contents": [{"parts": [MARK]}]}),
        (GEMINI, {"contents": {"parts": MARK}}),
        (GEMINI, {"systemInstruction": {"parts": []}, "system_instruction": {"parts": [MARK]}}),
        (GEMINI, {"generate_content_request": {"contents": [{"parts": [MARK]}]}}),
        (GEMINI, {"contents": [{"parts": [{"functionResponse": {"parts": [MARK]}}]}]}),
    ],
)
def test_part_is_found_in_each_form_that_a_server_takes(route, data):
    """One object is a list of one, and either spelling is read."""
    assert MARK in [block for _, block in blocks(data, route)]


def test_what_the_models_own_calls_hold_is_no_part():
    """Their arguments are data of a tool."""
    data = {"messages": [{"content": [{"type": "tool_use", "input": MARK}]}]}

    assert MARK not in [block for _, block in blocks(data, CHAT)]
