"""Requests as people write them."""

import pytest

from orchestrator.policy.egress_text import parse_egress
from orchestrator.schema.egress import EgressRequest


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        (
            "GET https://A.example.com/x?y#z",
            EgressRequest("inspected", "https", "a.example.com", 443, "GET", "/x?y"),
        ),
        (" POST  http://a.example.com ", EgressRequest("http", "http", "a.example.com", 80, "POST", "/")),
        ("GET https://a.example.com?y", EgressRequest("inspected", "https", "a.example.com", 443, "GET", "/?y")),
        (
            "GET wss://a.example.com:8443/ws",
            EgressRequest("inspected", "https", "a.example.com", 8443, "GET", "/ws", "websocket"),
        ),
        ("GET http://[::1]:80/", EgressRequest("http", "http", "::1", 80, "GET", "/")),
        ("GET http://[::1]/", EgressRequest("http", "http", "::1", 80, "GET", "/")),
        ("CONNECT a.example.com:443", EgressRequest("connect", "https", "a.example.com", 443)),
        ("CONNECT a.example.com:22", EgressRequest("connect", "https", "a.example.com", 22)),
        ("LOOKUP a.example.com.", EgressRequest("dns", "https", "a.example.com", 0)),
        ("CONNECT u@h:443", EgressRequest("connect", "https", "u@h", 443)),
        ("GET https://u@h/x", EgressRequest("inspected", "https", "u@h", 443, "GET", "/x")),
    ],
)  # fmt: skip
def test_a_text_is_read(text, request_):
    """A host that is none is left as it stands."""
    assert parse_egress(text) == request_


@pytest.mark.parametrize(
    "text",
    ["", "x.example", "GET x.example", "get https://x.example", "GET ftp://x", "CONNECT x", "LOOKUP",
     "GET https://x:y/", "GET https://x:123456/", "CONNECT https://x/", "GET https://x:/", "CONNECT x:0443",
     "CONNECT ::1:443", "GET https://::1/", "GET https://2001:db8::1/x"],
)  # fmt: skip
def test_what_is_none_says_what_was_expected(text):
    """In the words of the manual."""
    with pytest.raises(ValueError, match="expected"):
        parse_egress(text)
