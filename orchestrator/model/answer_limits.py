"""How much of an answer is read: a broken or hostile server could else take all memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from orchestrator.errors import ModelError

MIB = 1 << 20
MOST_OF_BODY = MIB
"""Bytes of an answer that is no stream; what it is stands at its beginning."""
MOST_OF_EVENT = 16 * MIB
"""Bytes up to a blank line; the longest events repeat a whole answer."""
MOST_OF_STREAM = 128 * MIB
"""Bytes of a stream; some servers spend 400 on each of 200,000 tokens."""
_ENDS = (b"\n\n", b"\r\r", b"\r\n\r\n")


def limit_reading(response: Any, model: str) -> None:
    """Have an HTTP client's response give no more than that, whoever reads it."""
    read = response.aiter_bytes

    def limited(chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        chunks = read(chunk_size)
        return bounded(chunks, model) if response.is_success else _first(chunks, response)

    # All SDKs read by it, unpacked, and so does the client itself.
    response.aiter_bytes = limited


def give_back(response: Any, begun: bytes, rest: AsyncGenerator[bytes, None]) -> None:
    """Have a response give what was read of it already, then the rest."""

    async def whole(_chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        yield begun
        async with aclosing(rest):
            async for chunk in rest:
                yield chunk

    response.aiter_bytes = whole


async def bounded(
    chunks: AsyncGenerator[bytes, None],
    model: str,
    *,
    event: int = MOST_OF_EVENT,
    whole: int = MOST_OF_STREAM,
) -> AsyncGenerator[bytes, None]:
    """Give the chunks; ModelError where an event or all of them have more bytes than that."""
    size, since, tail = 0, 0, b""
    async with aclosing(chunks):
        async for chunk in chunks:
            seen = tail + chunk
            end = max(seen.rfind(mark) + len(mark) if mark in seen else 0 for mark in _ENDS)
            since = len(seen) - end if end else since + len(chunk)
            size, tail = size + len(chunk), seen[-3:]
            if since > event:
                raise too_long(model, "an event of the answer", event)
            if size > whole:
                raise too_long(model, "the answer", whole)
            yield chunk


async def _first(chunks: AsyncGenerator[bytes, None], response: Any) -> AsyncGenerator[bytes, None]:
    """Give the beginning of a refusal: its status says what it is, its words why."""
    left = MOST_OF_BODY
    async with aclosing(chunks):
        async for chunk in chunks:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                break
    await response.aclose()


def too_long(model: str, what: str, most: int) -> ModelError:
    """Return the error for an answer that has more bytes than any model says; ``most`` of them."""
    return ModelError(
        f"{model}: bad_request: {what} has more than {most / MIB:g} MiB, and was not read on",
        kind="bad_request",
        status=200,
        hint="no model says so much: check the server behind base_url, and what stands between",
    )
