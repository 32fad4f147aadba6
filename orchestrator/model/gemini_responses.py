"""The responses that Google's SDK is reading, so that one it stumbles over is closed.

Its generators lie within each other. One that fails leaves those inside it open until the event
loop ends, which closes all of them at once, and they get into each other's way. With the response
closed first, none of them has anything left to wait for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar

import httpx2

_READING: ContextVar[list[httpx2.Response] | None] = ContextVar("gemini_reading", default=None)


async def note_response(response: httpx2.Response) -> None:
    """Keep a response in mind; a hook of the SDK's HTTP client."""
    opened = _READING.get()
    if opened is not None:
        opened.append(response)


@asynccontextmanager
async def closed_on_failure() -> AsyncIterator[None]:
    """Close the responses that came within, where that fails."""
    opened: list[httpx2.Response] = []
    token = _READING.set(opened)
    try:
        yield
    except Exception:
        for response in opened:
            # The failure on its way is the one to tell.
            with suppress(httpx2.HTTPError, httpx2.StreamError):
                await response.aclose()
        raise
    finally:
        _READING.reset(token)
