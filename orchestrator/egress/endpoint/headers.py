"""Which headers and which parameters of the query pass, in each direction: by lists alone.

Whatever could carry authority (keys, cookies, the account that pays, another method) is no part of
them. What SDKs tell of themselves passes: the provider gets the conversation anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, urlencode

from orchestrator.egress.endpoint.routes import Route, Shape

_ASKED = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-dangerous-direct-browser-access",
        "anthropic-version",
        "idempotency-key",
        "openai-beta",
        "originator",
        "session-id",
        "session_id",
        "user-agent",
        "version",
        "x-app",
        "x-client-request-id",
        "x-goog-api-client",
    }
)
_ASKED_PREFIXES = ("anthropic-client-", "x-codex-", "x-session-", "x-stainless-")
_ANSWERED = frozenset(
    {
        "cache-control",
        "content-type",
        "openai-model",
        "openai-processing-ms",
        "openai-version",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "x-request-id",
        "x-should-retry",
    }
)
_ANSWERED_PREFIXES = ("anthropic-ratelimit-", "x-ratelimit-")
_KEY_FORMS: Mapping[Shape, tuple[str, str]] = {
    "anthropic": ("x-api-key", ""),
    "openai": ("authorization", "Bearer "),
    "gemini": ("x-goog-api-key", ""),
}
_PARAMETERS: Mapping[Shape, Mapping[str, frozenset[str] | None]] = {
    "anthropic": {"beta": None, "limit": None, "after_id": None, "before_id": None},
    "openai": {},
    "gemini": {"alt": frozenset({"sse", "json"}), "pageSize": None, "pageToken": None},
}
"""Name to the values that pass; None for all. Google's servers read headers out of a query too."""


def request_headers(
    asked: Iterable[tuple[str, str]],
    route: Route,
    *,
    key: str | None,
    configured: Mapping[str, str],
) -> list[tuple[str, str]]:
    """Return what the provider gets; names in ``asked`` are lower case.

    Answers are wanted unpacked: they are read for their usage and for echoes of the key.
    """
    own = {"accept-encoding": "identity"}
    if route.kind not in {"list", "show"}:
        own["content-type"] = "application/json"
    own |= {name.lower(): value for name, value in configured.items()}
    if key is not None:
        name, scheme = _KEY_FORMS[route.shape]
        own[name] = scheme + key
    passed = [
        (name, value)
        for name, value in asked
        if name not in own and (name in _ASKED or name.startswith(_ASKED_PREFIXES))
    ]
    return [*passed, *own.items()]


def response_headers(answered: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what the client gets of the provider's headers; lengths are left to the connection."""
    return [
        (name.lower(), value)
        for name, value in answered
        if name.lower() in _ANSWERED or name.lower().startswith(_ANSWERED_PREFIXES)
    ]


def passed_query(query: str, shape: Shape) -> str:
    """Return the part of a query that passes, with its ``?``; keys are never in it."""
    known = _PARAMETERS[shape]
    kept = [
        (name, value)
        for name, value in parse_qsl(query, keep_blank_values=True)
        if name in known and value in (known[name] or {value})
    ]
    return f"?{urlencode(kept)}" if kept else ""
