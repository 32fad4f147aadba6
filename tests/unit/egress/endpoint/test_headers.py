"""What passes of headers and queries."""

import pytest

from orchestrator.egress.endpoint.headers import passed_query, request_headers, response_headers
from orchestrator.egress.endpoint.routes import Route, find_route

CHAT = find_route("POST", "/v1/chat/completions", {})


def asked(*headers, key="real", configured=None):
    assert isinstance(CHAT, Route)
    return dict(request_headers(headers, CHAT, key=key, configured=configured or {}))


def test_credentials_and_the_paying_account_do_not_pass():
    """Only lists pass; what a provider's own client tells of itself does."""
    sent = asked(
        ("authorization", "Bearer placeholder"),
        ("x-api-key", "placeholder"),
        ("cookie", "a=b"),
        ("openai-organization", "org"),
        ("anthropic-workspace-id", "w"),
        ("anthropic-beta", "b"),
        ("x-goog-user-project", "p"),
        ("x-forwarded-for", "1.2.3.4"),
        ("transfer-encoding", "chunked"),
        ("x-stainless-lang", "python"),
        ("openai-beta", "responses=v1"),
        ("accept-encoding", "gzip"),
    )

    assert sent == {
        "anthropic-beta": "b",
        "x-stainless-lang": "python",
        "openai-beta": "responses=v1",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "authorization": "Bearer real",
    }


def test_without_a_key_none_is_sent():
    """A local server gets no header of one."""
    assert "authorization" not in asked(("authorization", "Bearer placeholder"), key=None)


def test_configured_header_stands_over_the_clients():
    """The owner's word holds."""
    assert asked(("user-agent", "x"), configured={"User-Agent": "ours"})["user-agent"] == "ours"


def test_answers_keep_ids_and_rates_alone():
    """Cookies, accounts and lengths stay behind."""
    answered = [
        ("Set-Cookie", "a=b"),
        ("Content-Length", "5"),
        ("openai-organization", "org"),
        ("Request-Id", "r"),
        ("anthropic-ratelimit-tokens-remaining", "5"),
        ("X-RateLimit-Limit", "6"),
        ("content-type", "text/plain"),
    ]

    assert [name for name, _ in response_headers(answered)] == [
        "request-id",
        "anthropic-ratelimit-tokens-remaining",
        "x-ratelimit-limit",
        "content-type",
    ]


@pytest.mark.parametrize(
    ("query", "shape", "expected"),
    [
        ("beta=true", "anthropic", "?beta=true"),
        ("beta=true&key=k&x=1", "anthropic", "?beta=true"),
        ("alt=sse&key=k", "gemini", "?alt=sse"),
        ("alt=media", "gemini", ""),
        ("%24httpHeaders=x", "gemini", ""),
        ("api-version=1", "openai", ""),
        ("", "openai", ""),
    ],
)
def test_query_passes_by_its_list(query, shape, expected):
    """Google's servers take headers and keys from a query."""
    assert passed_query(query, shape) == expected
