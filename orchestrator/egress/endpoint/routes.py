"""Which API a request speaks and what it wants: pure, by method, path and a few headers.

What is not listed here does not exist: files, batches, stored answers and administration stay with
whoever holds the key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Api: TypeAlias = Literal["anthropic", "openai-chat", "openai-responses", "gemini"]
Shape: TypeAlias = Literal["anthropic", "openai", "gemini"]
"""Family of errors and of lists of models."""
Kind: TypeAlias = Literal["generate", "count", "embed", "list", "show", "hello", "upgrade"]
"""``count`` tells how many tokens a prompt has; ``upgrade`` wants a WebSocket."""

_PATH = re.compile(r"/[A-Za-z0-9._~:@/-]*\Z")
_VERSION = re.compile(r"\A(?:/v1(?:beta)?(?=/|\Z))+")
_GEMINI = re.compile(r"/models/([A-Za-z0-9._-]{1,200}):([A-Za-z]+)\Z")
_SHOW = re.compile(r"/models/([A-Za-z0-9._:@/-]{1,200})\Z")
_GEMINI_CALLS: Mapping[str, Kind] = {
    "generateContent": "generate",
    "streamGenerateContent": "generate",
    "countTokens": "count",
}
_ANY_OPENAI: frozenset[Api] = frozenset({"openai-chat", "openai-responses"})
APIS: Mapping[Shape, frozenset[Api]] = {
    "anthropic": frozenset({"anthropic"}),
    "openai": _ANY_OPENAI,
    "gemini": frozenset({"gemini"}),
}


@dataclass(frozen=True, slots=True)
class Route:
    """What a request wants."""

    shape: Shape
    kind: Kind
    apis: frozenset[Api]
    """A provider must speak one of these."""
    tail: str = ""
    """Path below a provider's base URL, without a version."""
    model: str = ""
    """Where the path names it; else the body does."""


@dataclass(frozen=True, slots=True)
class Miss:
    """There is no such thing here."""

    shape: Shape
    status: int
    message: str


_POSTS: Mapping[str, tuple[Shape, Kind, frozenset[Api]]] = {
    "/messages": ("anthropic", "generate", APIS["anthropic"]),
    "/messages/count_tokens": ("anthropic", "count", APIS["anthropic"]),
    "/chat/completions": ("openai", "generate", frozenset({"openai-chat"})),
    "/responses": ("openai", "generate", frozenset({"openai-responses"})),
    "/embeddings": ("openai", "embed", _ANY_OPENAI),
}
OFFERED = (
    "POST /v1/messages, /v1/messages/count_tokens, /v1/chat/completions, /v1/responses, "
    "/v1/embeddings, /v1beta/models/MODEL:generateContent, :streamGenerateContent, :countTokens; "
    "GET /v1/models, /v1beta/models"
)


def find_route(method: str, path: str, headers: Mapping[str, str]) -> Route | Miss:
    """Return the route of a request; header names are lower case."""
    shape = _shape(path, headers)
    if path in {"/", "/api/hello"}:
        if method in {"GET", "HEAD"}:
            return Route(shape, "hello", frozenset())
        return Miss(shape, 405, f"{path}: expected GET or HEAD, got {method}")
    below = _VERSION.sub("", path) if _PATH.match(path) else ""
    found = _gemini(method, below) or _named(method, below, headers) or _models(below, shape)
    if found is None:
        return Miss(shape, 404, f"{path[:200]}: no such call here; there is {OFFERED}")
    if isinstance(found, Route) and found.kind in {"list", "show"} and method != "GET":
        return Miss(shape, 405, f"{path[:200]}: expected GET, got {method}")
    return found


def _named(method: str, below: str, headers: Mapping[str, str]) -> Route | Miss | None:
    found = _POSTS.get(below)
    if found is None:
        return None
    shape, kind, apis = found
    if "websocket" in headers.get("upgrade", "").lower():
        return Route(shape, "upgrade", apis)
    if method != "POST":
        return Miss(shape, 405, f"{below}: expected POST, got {method}")
    return Route(shape, kind, apis, below)


def _gemini(method: str, below: str) -> Route | Miss | None:
    match = _GEMINI.fullmatch(below)
    kind = _GEMINI_CALLS.get(match[2]) if match else None
    if match is None or kind is None:
        return None
    if method != "POST":
        return Miss("gemini", 405, f"{below}: expected POST, got {method}")
    return Route("gemini", kind, APIS["gemini"], below, match[1])


def _models(below: str, shape: Shape) -> Route | None:
    if below == "/models":
        return Route(shape, "list", APIS[shape], below)
    match = _SHOW.fullmatch(below)
    if match is None or _GEMINI.fullmatch(below):
        return None
    return Route(shape, "show", APIS[shape], below, match[1])


def _shape(path: str, headers: Mapping[str, str]) -> Shape:
    """Return whose errors the client understands."""
    if path.startswith("/v1beta") or _GEMINI.search(path) or "x-goog-api-key" in headers:
        return "gemini"
    if "/messages" in path or "anthropic-version" in headers or "x-api-key" in headers:
        return "anthropic"
    return "openai"
