from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from typing import Any, Self

import anyio
import pytest

from orchestrator.config.providers import ApiKind
from orchestrator.errors import ModelError
from orchestrator.model.client import Delta
from orchestrator.model.streaming import pour
from tests.support.model_contract import adapter, ask, asking
from tests.support.model_server import Reply, serving

POUR = partial(pour, model="a/b")

DEEP_EVENTS = {
    "anthropic": '{"type": "message_start", "message": %s}',
    "openai-chat": '{"choices": [{"index": 0, "delta": %s}]}',
    "openai-responses": '{"type": "response.created", "response": %s}',
    "gemini": '{"candidates": [{"content": {"parts": [{"functionCall": {"args": %s}}]}}]}',
}


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


@pytest.mark.parametrize("levels", [300, 900, 5000])
@pytest.mark.parametrize("api", ["anthropic", "openai-chat", "openai-responses", "gemini"])
def test_event_nested_deep_ends_nothing_but_the_request(api: ApiKind, levels: int) -> None:
    """JSON may nest deeper than parsers, SDKs or a look through it can go."""
    deep = '{"delta":' * levels + "1" + "}" * levels
    event = DEEP_EVENTS[api] % deep
    reply = Reply(200, {"content-type": "text/event-stream"}, f"data: {event}\n\n".encode())

    async def scene(address: str) -> None:
        async with adapter(api, address) as client:
            await ask(client, asking("hello"))

    with serving(reply) as server, pytest.raises(ModelError):
        anyio.run(scene, server.address)
