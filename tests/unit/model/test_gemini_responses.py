"""What is closed where the SDK fails over a response."""

import anyio
import httpx2
import pytest

from orchestrator.model.gemini_responses import closed_on_failure, note_response


def response():
    return httpx2.Response(200, stream=httpx2.AsyncByteStream())


async def fail(response):
    async with closed_on_failure():
        await note_response(response)
        raise ValueError("no event")


def test_response_is_closed_where_reading_it_fails_and_only_then():
    """One of another request is left alone."""
    other, read, failed = response(), response(), response()

    async def scene():
        await note_response(other)
        async with closed_on_failure():
            await note_response(read)
        with pytest.raises(ValueError, match="no event"):
            await fail(failed)

    anyio.run(scene)
    assert [one.is_closed for one in (other, read, failed)] == [False, False, True]
