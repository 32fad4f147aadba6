"""How much of an answer is read."""

from collections.abc import AsyncGenerator

import anyio
import pytest

from orchestrator.errors import ModelError
from orchestrator.model.answer_limits import bounded


def read(*chunks: bytes, event: int = 10, whole: int = 40) -> bytes:
    async def given() -> AsyncGenerator[bytes, None]:
        for chunk in chunks:
            yield chunk

    async def scene() -> bytes:
        kept = [piece async for piece in bounded(given(), "a/b", event=event, whole=whole)]
        return b"".join(kept)

    return anyio.run(scene)


@pytest.mark.parametrize("end", [b"\n\n", b"\r\r", b"\r\n\r\n"])
def test_events_within_the_limits_pass_however_they_are_cut(end: bytes) -> None:
    """An end may lie across chunks."""
    text = (b"data:x" + end) * 4

    assert read(text) == text
    assert read(*(text[at : at + 1] for at in range(len(text)))) == text


def test_event_that_is_too_long_is_refused() -> None:
    with pytest.raises(ModelError, match="an event of the answer has more than"):
        read(b"data:x\n\n", b"data:", b"123456")


def test_stream_that_is_too_long_is_refused() -> None:
    """However short its events are."""
    with pytest.raises(ModelError, match="a/b: bad_request: the answer has more than") as caught:
        read(*[b"data:x\n\n"] * 6)
    assert not caught.value.retryable
