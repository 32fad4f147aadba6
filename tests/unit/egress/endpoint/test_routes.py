"""Method, path and headers to what is wanted."""

import pytest

from orchestrator.egress.endpoint.routes import Miss, Route, find_route


@pytest.mark.parametrize(
    ("method", "path", "headers", "shape", "kind", "tail"),
    [
        ("POST", "/v1/messages", {}, "anthropic", "generate", "/messages"),
        ("POST", "/messages", {}, "anthropic", "generate", "/messages"),
        ("POST", "/v1/v1/messages", {}, "anthropic", "generate", "/messages"),
        ("POST", "/v1/messages/count_tokens", {}, "anthropic", "count", "/messages/count_tokens"),
        ("POST", "/v1/chat/completions", {}, "openai", "generate", "/chat/completions"),
        ("POST", "/chat/completions", {}, "openai", "generate", "/chat/completions"),
        ("POST", "/v1/responses", {}, "openai", "generate", "/responses"),
        ("POST", "/v1/embeddings", {}, "openai", "embed", "/embeddings"),
        ("GET", "/v1/responses", {"upgrade": "WebSocket"}, "openai", "upgrade", ""),
        ("GET", "/v1/models", {}, "openai", "list", "/models"),
        ("GET", "/v1/models", {"x-api-key": "k"}, "anthropic", "list", "/models"),
        ("GET", "/v1/models", {"anthropic-version": "1"}, "anthropic", "list", "/models"),
        ("GET", "/v1beta/models", {}, "gemini", "list", "/models"),
        ("GET", "/v1/models", {"x-goog-api-key": "k"}, "gemini", "list", "/models"),
        ("GET", "/v1/models/a/b-1", {}, "openai", "show", "/models/a/b-1"),
        ("HEAD", "/", {}, "openai", "hello", ""),
    ],
)
def test_path_names_api_and_call(method, path, headers, shape, kind, tail):
    """With and without a version before it."""
    route = find_route(method, path, headers)

    assert isinstance(route, Route)
    assert (route.shape, route.kind, route.tail) == (shape, kind, tail)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("generateContent", "generate"),
        ("streamGenerateContent", "generate"),
        ("countTokens", "count"),
    ],
)
@pytest.mark.parametrize("version", ["/v1beta", "/v1", ""])
def test_gemini_names_the_model_in_its_path(version, call, kind):
    """And the call behind a colon."""
    route = find_route("POST", f"{version}/models/gemini-3-pro:{call}", {})

    assert isinstance(route, Route)
    assert (route.shape, route.kind, route.model) == ("gemini", kind, "gemini-3-pro")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/files", 404),
        ("POST", "/v1beta/models/x:batchGenerateContent", 404),
        ("POST", "/v1beta/models/a%2fb:generateContent", 404),
        ("POST", "/v1/messages%00", 404),
        ("POST", "/v1/messages/", 404),
        ("POST", "http://elsewhere.example/v1/messages", 404),
        ("PUT", "/v1/messages", 405),
        ("GET", "/v1beta/models/x:generateContent", 405),
        ("DELETE", "/v1/models/x", 405),
        ("POST", "/v1/models", 405),
        ("POST", "/", 405),
    ],
)
def test_all_else_is_not_there(method, path, status):
    """What the account holds beside its models is out of reach."""
    missed = find_route(method, path, {})

    assert isinstance(missed, Miss)
    assert missed.status == status
