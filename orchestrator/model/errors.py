"""What a provider's failure is: told from status, code and wording, the same for every vendor.

The kinds decide what happens next: ``network``, ``overloaded``, ``rate_limit`` and ``server`` are
tried again, ``overflow`` asks for a shorter conversation, ``too_large`` (in bytes, or in pictures)
for one without pictures, ``thoughts_refused`` for one without thoughts, the rest ends the run.
"""

from __future__ import annotations

import email.utils
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from orchestrator.errors import ModelError, ModelFailure
from orchestrator.model.overflow import is_overflow
from orchestrator.model.refused_thoughts import refuses_thoughts

MAX_DATE_WAIT_S = 300.0
"""A Retry-After date is only as good as two clocks; it never asks for more than this."""
MAX_MESSAGE = 600
"""Characters of a provider's words that are repeated."""
NOTHING = "the answer is empty: not one event came"
TWICE = 2
"""Requests after which an answer that is none is the server's way, and no chance."""

_BY_TYPE: dict[str, ModelFailure] = {
    "authentication_error": "auth",
    "permission_error": "auth",
    "invalid_api_key": "auth",
    "billing_error": "quota",
    "insufficient_quota": "quota",
    "billing_hard_limit_reached": "quota",
    "billing_not_active": "quota",
    "overloaded_error": "overloaded",
    "engine_overloaded": "overloaded",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "context_length_exceeded": "overflow",
    "exceed_context_size_error": "overflow",
    "model_context_window_exceeded": "overflow",
    "model_max_prompt_tokens_exceeded": "overflow",
    # Zhipu and z.ai, MiniMax: numbers whose words are not always told.
    "1261": "overflow",
    "1002": "rate_limit",
    "1039": "rate_limit",
    "1008": "quota",
    "api_error": "server",
    "server_error": "server",
    "timeout_error": "server",
    "request_too_large": "too_large",
    "invalid_encrypted_content": "thoughts_refused",
    "invalid_request_error": "bad_request",
    "invalid_prompt": "bad_request",
    "not_found_error": "bad_request",
}
_BY_STATUS: dict[int, ModelFailure] = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "server",
    409: "server",
    413: "too_large",
    425: "server",
    429: "rate_limit",
    503: "overloaded",
    529: "overloaded",
}

_THROTTLED = re.compile(
    r"rate.?limit|thrott|too many requests|\bwait\b|slow down|try again (later|in\b)"
    r"|(tokens|requests) per (second|minute|hour|day)|\b[TR]P[MD]\b",
    re.IGNORECASE,
)
_EMPTY_PURSE = re.compile(
    r"credit balance|insufficient (balance|credit|quota|funds)|exceeded your current quota"
    r"|check your (plan and )?billing|billing (hard )?limit|payment required|spend(ing)? limit",
    re.IGNORECASE,
)
_BYTES = re.compile(
    r"\b(bytes|[KMG]i?B)\b|request_too_large|payload|(entity|body) (is )?too large", re.IGNORECASE
)
_BLIND = re.compile(
    r"\bimages?\b( inputs?)? (is|are) not (supported|enabled)|missing data required for image input"
    r"|not a multimodal model",
    re.IGNORECASE,
)
"""A model that sees nothing: some servers call that a failure of their own."""
_PICTURES = re.compile(
    r"\bimages?\b.{0,80}(exceed|too (large|big|many)|larger than|at most|maximum|limit)"
    r"|(too many|maximum( number)? of|at most \d+) .{0,20}\bimages?\b"
    r"|(not support|that support|invalid|unsupported|unknown) .{0,20}\bimages?(_url)?\b"
    r"|(not|unable to|failed to) (process|decode|read|load|download) .{0,20}\bimages?\b",
    re.IGNORECASE | re.DOTALL,
)

_HINTS: dict[ModelFailure, str] = {
    "auth": "check the key: glovebox keys test NAME",
    "quota": "the account has no credit left, or its budget is used up",
    "network": "check the base URL and the network; a local server must be running",
    "rate_limit": "the provider limits this key; wait, or choose another model",
    "overloaded": "the provider is busy; try again later or choose another model",
    "too_large": "the request has too many bytes or pictures: leave pictures or long texts out",
    "overflow": "the conversation no longer fits the model's context window",
    "thoughts_refused": "the signatures may be of another key or server; try another model",
}


_UNREADABLE = "check that the base URL leads to a server that speaks this API"


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure in a provider's own words."""

    status: int | None
    type: str = ""
    code: str = ""
    message: str = ""
    retry_after_s: float | None = None


def classify(failure: Failure) -> ModelFailure:
    """Return what kind a failure is; a rate limit is never an overflow, an empty purse never retried."""
    named = {failure.type, failure.code}
    words = f"{failure.code} {failure.message}"
    if failure.status == 402 or "insufficient_quota" in named or _EMPTY_PURSE.search(words):
        return "quota"
    kind = next((_BY_TYPE[name] for name in (failure.code, failure.type) if name in _BY_TYPE), None)
    if kind in {"overflow", "auth", "quota", "overloaded", "thoughts_refused"}:
        return kind
    if _THROTTLED.search(words) or kind == "rate_limit" or failure.status == 429:
        return "rate_limit"
    if kind in {None, "bad_request"} and refuses_thoughts(failure.message):
        return "thoughts_refused"
    if _refuses_pictures(failure.message, kind):
        return "too_large"
    if is_overflow(failure.message) and not _BYTES.search(f"{failure.type} {words}"):
        return "overflow"
    if failure.status == 413:
        return "too_large"
    return kind or _by_status(failure.status)


def _refuses_pictures(words: str, kind: ModelFailure | None) -> bool:
    if kind == "server":
        return bool(_BLIND.search(words))
    known = kind in {None, "bad_request", "too_large"}
    return known and bool(_PICTURES.search(words) or _BLIND.search(words))


def _by_status(status: int | None) -> ModelFailure:
    if status is None:
        return "network"
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    # Below 300 the failure came inside an answer that had begun well.
    return "server" if status >= 500 or status < 300 else "bad_request"


def model_error(
    model: str, failure: Failure, *, kind: ModelFailure | None = None, tries: int | None = None
) -> ModelError:
    """Return the error to raise for a failure of ``model``; its words tell the kind if None."""
    kind = kind or classify(failure)
    status = f" {failure.status}" if failure.status else ""
    word = failure.message.strip() or failure.code or failure.type or "no reason given"
    wait = f" (asks to wait {failure.retry_after_s:.0f} s)" if failure.retry_after_s else ""
    return ModelError(
        f"{model}: {kind}{status}: {shorten(word)}{wait}",
        kind=kind,
        status=failure.status,
        retry_after_s=failure.retry_after_s,
        tries=tries,
        hint=_HINTS.get(kind, ""),
    )


def unreadable(model: str, why: str) -> ModelError:
    """Return the error for an answer that is none: by chance perhaps, so it is asked for twice."""
    return ModelError(
        f"{model}: server: {shorten(why)}", kind="server", tries=TWICE, hint=_UNREADABLE
    )


def broken_stream(model: str, why: str) -> ModelError:
    """Return the error for an answer that did not arrive whole; nothing of it is kept."""
    return ModelError(f"{model}: network: {why}", kind="network", hint=_HINTS["network"])


def shorten(text: str) -> str:
    """Return a provider's words on one line, cut where they run on."""
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_MESSAGE else flat[:MAX_MESSAGE] + "…"


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds a response asks to wait; never negative, a date never far away."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        raw = headers.get(name, "").strip()
        # Also in the way that programs write a long wait: 1e9.
        if re.fullmatch(r"\d+(\.\d+)?(e\+?\d{1,2})?", raw, re.IGNORECASE | re.ASCII):
            return float(raw) * unit
    wanted = _date(headers.get("retry-after", ""))
    if wanted is None:
        return None
    # The server's own clock, where it tells it, makes a wrong clock here harmless.
    seconds = (wanted - (_date(headers.get("date", "")) or now)).total_seconds()
    return min(max(seconds, 0.0), MAX_DATE_WAIT_S)


def _date(text: str) -> datetime | None:
    try:
        parsed = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
