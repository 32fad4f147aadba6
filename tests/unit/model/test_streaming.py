from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from typing import Any, Self

import anyio
import pytest

from orchestrator.errors import ModelError
from orchestrator.model.client import Delta
from orchestrator.model.streaming import pour

POUR = partial(pour, model="a/b")


class Event:
    def __init__(self, text: str) -> None:
        self.text = text

    def to_dict(self, **_: object) -> dict[str, str]:
        return {"text": self.text}


class Stream:
    """Gives events, then fails where it is told to; knows whether it was closed."""

    def __init__(self, *texts: str, failure: Exception | None = None) -> None:
        self.texts = texts
        self.failure = failure
        self.closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closed = True

    async def __aiter__(self) -> AsyncIterator[Event]:
        for text in self.texts:
            yield Event(text)
        if self.failure:
            raise self.failure


class Echo:
    def feed(self, event: Mapping[str, Any]) -> Iterator[Delta]:
        yield Delta("text", event["text"])


def test_pieces_come_in_order_and_empty_ones_do_not() -> None:
    """A reader gets what there is to read."""
    seen: list[Delta] = []
    anyio.run(POUR, Stream("a", "", "b"), Echo(), seen.append)
    assert [delta.text for delta in seen] == ["a", "b"]


def test_stream_is_closed_whatever_happens() -> None:
    """No connection is left behind."""
    stream = Stream("a", failure=ValueError("broke"))
    with pytest.raises(ValueError, match="broke"):
        anyio.run(POUR, stream, Echo(), lambda _: None)
    assert stream.closed


def test_stream_without_any_event_is_no_answer() -> None:
    """It is asked for once more, and not six times."""
    stream = Stream()
    with pytest.raises(ModelError, match="not one event") as caught:
        anyio.run(POUR, stream, Echo(), print)
    assert caught.value.tries == 2
    assert stream.closed


class Endless(Stream):
    """Gives what it has, then signs of life for ever."""

    async def __aiter__(self) -> AsyncIterator[Event]:
        for text in self.texts:
            yield Event(text)
        while True:
            await anyio.sleep(0.01)
            yield Event("")


def test_signs_of_life_alone_are_no_answer_for_ever() -> None:
    """What came before them makes no difference; the stream is closed."""
    for stream in (Endless(), Endless("a")):
        with pytest.raises(ModelError, match=r"signs of life came for 0\.1 s") as caught:
            anyio.run(partial(POUR, stalled_s=0.1), stream, Echo(), lambda _: None)

        assert (caught.value.kind, caught.value.tries) == ("server", 2)
        assert stream.closed


def test_an_answer_that_goes_on_is_waited_for_however_long() -> None:
    """The patience is with each piece, not with the whole."""

    class Slow(Stream):
        async def __aiter__(self) -> AsyncIterator[Event]:
            for text in self.texts:
                await anyio.sleep(0.15)
                yield Event(text)

    seen: list[Delta] = []
    anyio.run(partial(POUR, stalled_s=0.4), Slow(*"abcd"), Echo(), seen.append)
    assert [delta.text for delta in seen] == [*"abcd"]
