"""A good answer that is no stream of events: an error that came late, a page of a proxy, nothing.

A vendor's SDK would read any of these as a stream that broke off, and it would be asked for again
and again; what it is stands in its type and its body.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from orchestrator.credentials.secret import Secret
from orchestrator.errors import ModelError
from orchestrator.model.answer_limits import MOST_OF_BODY, give_back, limit_reading, too_long
from orchestrator.model.catalog import Target
from orchestrator.model.errors import (
    NOTHING,
    TWICE,
    Failure,
    classify,
    model_error,
    shorten,
    unreadable,
)
from orchestrator.model.sdk_failure import struck, told_status, words_of

SHOWN = 200
"""Characters of a page, or of a text that is no event, that are repeated."""
MOST_OF_PAGE = 16_384
"""Characters in which a page's title is looked for: a longer search grows with the square."""
LOOKED_AT = 4_096
"""Bytes within which the first event has to begin."""
_EVENTS = re.compile(rb"(\xef\xbb\xbf)?\s*(data|event|id|retry)?:")
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_TAGS = re.compile(r"<(script|style)\b.*?</\1|<[^>]*>", re.IGNORECASE | re.DOTALL)
_ANSWERS = ("choices", "candidates", "output", "content")
"""Members that hold what a model said, in one API or another."""


def stream_check(target: Target, key: Secret | None) -> Callable[[Any], Awaitable[None]]:
    """Return a hook that raises ModelError for an answer which says that it is no stream."""

    async def check(response: Any) -> None:
        limit_reading(response, target.info.id)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        told = (
            kind.endswith(("json", "html", "xml")) or response.headers.get("content-length") == "0"
        )
        if response.request.method != "POST" or not response.is_success or not told:
            return
        body, chunks = bytearray(), response.aiter_bytes()
        async for chunk in chunks:
            body += chunk
            if len(body) - len(chunk) < LOOKED_AT and _EVENTS.match(body):
                # Some servers send events under any type.
                give_back(response, bytes(body), chunks)
                return
            if len(body) > MOST_OF_BODY:
                await chunks.aclose()
                await response.aclose()
                raise too_long(
                    target.info.id, f"an answer ({kind}) that is no stream", MOST_OF_BODY
                )
        raise judged(bytes(body), kind, target, key=key)

    return check


def judged(body: bytes, kind: str, target: Target, *, key: Secret | None) -> ModelError:
    """Return what an answer is that has no events; ``kind`` is its media type."""
    model, text = target.info.id, struck(body.decode("utf-8", "replace"), key).strip()
    if not text:
        return unreadable(model, NOTHING)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, list) and data:
        data = data[0]
    if isinstance(data, Mapping):
        return _told(data, target)
    page = kind.endswith(("html", "xml")) or text.startswith("<")
    what = f"a web page ({_title(text)})" if page else f"a text ({text[:SHOWN]})"
    return _wrong(target, f"expected events, got {what}")


def _told(data: Mapping[str, Any], target: Target) -> ModelError:
    type_, code, message = words_of(data)
    if not message and not data.get("error") and any(data.get(name) for name in _ANSWERS):
        return _wrong(target, "expected events, got a whole answer: the server does not stream")
    failure = Failure(told_status(data), type_, code, message or json.dumps(data)[:SHOWN])
    if classify(failure) == "server":
        # Nobody knows what it is; it may pass, but not after many tries.
        return model_error(target.info.id, failure, tries=TWICE)
    return model_error(target.info.id, failure)


def _wrong(target: Target, why: str) -> ModelError:
    """Return the error for a base URL behind which no such API is."""
    return ModelError(
        f"{target.info.id}: bad_request: {target.base_url}: {shorten(why)}",
        kind="bad_request",
        status=200,
        hint="check base_url and api of this provider, and what stands between: a login page, "
        "a proxy, a gateway",
    )


def _title(page: str) -> str:
    page = page[:MOST_OF_PAGE]
    found = _TITLE.search(page)
    text = " ".join(html.unescape(_TAGS.sub(" ", found[1] if found else page)).split())
    return text[:SHOWN] or "without words"
