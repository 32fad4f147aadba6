"""Refusals in each API's own words."""

import json

import pytest

from orchestrator.egress.endpoint.refused import (
    RefusedCallError,
    refusal_body,
    refusal_headers,
)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("anthropic", {"type": "error", "error": {"type": "permission_error", "message": "no"}}),
        (
            "openai",
            {"error": {"message": "no", "type": "permission_error", "param": None, "code": "r"}},
        ),
        ("gemini", {"error": {"code": 403, "message": "no", "status": "PERMISSION_DENIED"}}),
    ],
)
def test_body_has_the_apis_form(shape, expected):
    """So that a client shows the reason instead of a parse error."""
    assert json.loads(refusal_body(RefusedCallError(403, "no", rule="r"), shape)) == expected


def test_headers_stop_a_client_that_would_try_again():
    """What would fail again says so; what may pass later says when."""
    final = dict(refusal_headers(RefusedCallError(403, "no", rule="models.box.tokens")))
    later = dict(refusal_headers(RefusedCallError(429, "wait", retry_after_s=7)))

    assert final["x-should-retry"] == "false"
    assert final["x-glovebox-rule"] == "models.box.tokens"
    assert "x-should-retry" not in later
    assert later["retry-after"] == "7"
