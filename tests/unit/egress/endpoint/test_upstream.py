"""Addresses of calls."""

import pytest

from orchestrator.egress.endpoint.routes import find_route
from tests.support.endpoints import provider

MESSAGES = find_route("POST", "/v1/messages", {})
CHAT = find_route("POST", "/chat/completions", {})
GEMINI = find_route("POST", "/v1/models/g:generateContent", {})


@pytest.mark.parametrize(
    ("base", "route", "expected"),
    [
        ("https://a.example", MESSAGES, "https://a.example/v1/messages?q=1"),
        ("https://a.example/v1", MESSAGES, "https://a.example/v1/messages?q=1"),
        ("https://a.example/v1/", CHAT, "https://a.example/v1/chat/completions?q=1"),
        ("https://a.example", GEMINI, "https://a.example/v1beta/models/g:generateContent?q=1"),
        (
            "https://a.example/v1beta",
            GEMINI,
            "https://a.example/v1beta/models/g:generateContent?q=1",
        ),
    ],
)
def test_base_url_may_hold_the_version(base, route, expected):
    """People write both."""
    assert provider("p", base, "anthropic").url(route, "?q=1") == expected


def test_model_of_a_path_is_replaced_in_it():
    """As a body's model is in the body."""
    url = provider("p", "https://a.example", "gemini").url(GEMINI, "", model="other")

    assert url == "https://a.example/v1beta/models/other:generateContent"


def test_provider_serves_what_it_speaks():
    """And nothing else."""
    assert provider("p", "x", "openai-chat").serves(CHAT)
    assert not provider("p", "x", "openai-chat").serves(MESSAGES)
