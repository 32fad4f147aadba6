"""A call that is not made, and how each API says so.

Clients try again by themselves after 408, 409, 429 and 5xx: what would fail again has another
status, and the header by which the vendors' own SDKs are told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orchestrator.egress.endpoint.routes import Shape

_ANTHROPIC: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}
_GEMINI: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_AGAIN = frozenset({429, 502, 503, 504})


class RefusedCallError(Exception):
    """Raised when a call is not made, or its answer cannot be given."""

    def __init__(
        self, status: int, message: str, *, rule: str = "", retry_after_s: int | None = None
    ) -> None:
        """Keep the HTTP status, what the client is told, and which limit or rule said so."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.rule = rule
        self.retry_after_s = retry_after_s
        self.asked = ""
        """The model that was asked for, where that was known by then."""
        self.recorded = False
        """Whether the record has it already, as the end of a call."""


def refusal_body(refused: RefusedCallError, shape: Shape) -> bytes:
    """Return the error in the API's own form."""
    return json.dumps(_FORMS[shape](refused)).encode()


def refusal_headers(refused: RefusedCallError) -> list[tuple[str, str]]:
    """Return the headers that go with it."""
    headers = [("content-type", "application/json"), ("x-glovebox-error", "model-endpoint")]
    if refused.rule:
        headers.append(("x-glovebox-rule", refused.rule))
    if refused.status not in _AGAIN:
        headers.append(("x-should-retry", "false"))
    if refused.retry_after_s is not None:
        headers.append(("retry-after", str(refused.retry_after_s)))
    return headers


def _anthropic(refused: RefusedCallError) -> dict[str, Any]:
    kind = _ANTHROPIC.get(refused.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": refused.message}}


def _openai(refused: RefusedCallError) -> dict[str, Any]:
    kind = _ANTHROPIC.get(refused.status, "server_error")
    code = refused.rule or None
    return {"error": {"message": refused.message, "type": kind, "param": None, "code": code}}


def _gemini(refused: RefusedCallError) -> dict[str, Any]:
    status = _GEMINI.get(refused.status, "INTERNAL")
    return {"error": {"code": refused.status, "message": refused.message, "status": status}}


_FORMS = {"anthropic": _anthropic, "openai": _openai, "gemini": _gemini}
