"""A good status over an answer that is no stream of events."""

import json
from dataclasses import replace
from typing import Any

import anyio
import pytest

from orchestrator.config.providers import ApiKind
from orchestrator.errors import ModelError
from orchestrator.model.answer_limits import MOST_OF_BODY, MOST_OF_EVENT
from orchestrator.model.no_stream import judged
from tests.support.model_contract import KEY, adapter, ask, asking, target_of
from tests.support.model_server import REPLIES, Reply, serving

APIS: tuple[ApiKind, ...] = ("anthropic", "openai-chat", "openai-responses", "gemini")
PAGE = (
    b"<!doctype html>\n<html><head><title>Sign in &amp; go on</title></head><body>x</body></html>"
)


def complete(api: ApiKind, reply: Reply) -> str:
    async def scene(address: str) -> str:
        async with adapter(api, address) as client:
            message, _ = await ask(client, asking("hello"))
            return message.text

    with serving(reply) as server:
        return anyio.run(scene, server.address)


def failure(api: ApiKind, body: Any, kind: str = "application/json") -> ModelError:
    with pytest.raises(ModelError) as caught:
        complete(api, Reply(200, {"content-type": kind}, body))
    return caught.value


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/json"])
def test_page_is_for_good_and_names_the_base_url(api: ApiKind, kind: str) -> None:
    """A login page of a proxy comes again however often it is asked for."""
    error = failure(api, PAGE, kind)

    assert (error.kind, error.retryable) == ("bad_request", False)
    assert "http://127.0.0.1:" in error.message
    assert "a web page (Sign in & go on)" in error.message
    assert "base_url" in error.hint


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "text/plain", ""])
def test_empty_answer_is_asked_for_twice(api: ApiKind, kind: str) -> None:
    """It may be chance; the second time it is not."""
    error = failure(api, b"", kind)

    assert (error.kind, error.retryable, error.tries) == ("server", True, 2)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("said", [b"", b": keep-alive\n\n: keep-alive\n\n"])
def test_stream_of_nothing_is_asked_for_twice(api: ApiKind, said: bytes) -> None:
    """A server that died behind its proxy: the headers came, and signs of life.

    Google's SDK takes those signs for an event that broke off.
    """
    error = failure(api, said or b"\n", "text/event-stream")

    broke = api == "gemini" and bool(said)
    assert (error.kind, error.tries) == (("network", None) if broke else ("server", 2))


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("body", "kind", "tries"),
    [
        ({"error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded", None),
        ({"error": {"code": 429, "message": "slow down"}}, "rate_limit", None),
        ({"error": {"code": "invalid_api_key", "message": "no"}}, "auth", None),
        ({"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}, "overflow", None),
        ([{"error": {"code": 400, "message": "odd", "status": "INVALID"}}], "bad_request", None),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, "quota", None),
        ({"code": 500, "msg": "404 NOT_FOUND", "success": False}, "server", 2),
        ({"detail": "something"}, "server", 2),
        ({"error": "something"}, "server", 2),
        ({"strange": True}, "server", 2),
    ],
)
def test_error_is_read_as_an_error(api: ApiKind, body: Any, kind: str, tries: int | None) -> None:
    """Gateways put errors into answers that say 200; only an unknown one is asked for again, once."""
    error = failure(api, body)

    assert (error.kind, error.tries) == (kind, tries)
    assert KEY.reveal() not in error.message


@pytest.mark.parametrize("api", APIS)
def test_whole_answer_says_that_nothing_streams(api: ApiKind) -> None:
    """Asked again it would be paid for again."""
    error = failure(api, {"choices": [{"message": {"content": "hi"}}], "error": None})

    assert (error.kind, error.retryable) == ("bad_request", False)
    assert "does not stream" in error.message


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/html"])
def test_events_under_another_name_are_events(api: ApiKind, kind: str) -> None:
    """Some servers and proxies name them wrongly."""
    whole = replace(REPLIES[api](text="hello"), done=False)
    lines = [f"data: {json.dumps(event)}\n\n" for event in whole.events]
    if whole.named:
        names = (event["type"] for event in whole.events)
        lines = [f"event: {name}\n{line}" for name, line in zip(names, lines, strict=True)]
    body = "".join(lines).encode()

    assert complete(api, Reply(200, {"content-type": kind}, body)) == "hello"


def test_text_and_key_are_told_without_the_key() -> None:
    """What a gateway says in plain words is worth reading."""
    target = target_of("openai-chat", "http://127.0.0.1:1")
    error = judged(f"no route for {KEY.reveal()}".encode(), "application/json", target, key=KEY)

    assert "a text (no route for [key])" in error.message


@pytest.mark.parametrize("piece", ["<script ", "<title>", "<style>x"])
def test_page_of_nothing_but_beginnings_is_told_soon(piece: str) -> None:
    """What is looked for in it never ends, from each of a million places."""
    error = judged(
        (piece * 400_000).encode(), "text/html", target_of("openai-chat", "http://x"), key=None
    )

    assert "a web page" in error.message


LONG = b"x" * (MOST_OF_BODY + 1)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("kind", ["application/json", "text/html"])
def test_answer_without_events_is_not_read_without_end(api: ApiKind, kind: str) -> None:
    """A gateway could else take all memory."""
    error = failure(api, LONG, kind)

    assert (error.kind, error.retryable) == ("bad_request", False)
    assert "has more than 1 MiB" in error.message


@pytest.mark.parametrize("api", APIS)
def test_long_refusal_is_told_by_its_status(api: ApiKind) -> None:
    """Its beginning is enough, and it may pass."""
    with pytest.raises(ModelError) as caught:
        complete(api, Reply(529, {"retry-after": "0"}, b'{"error": "' + LONG))

    assert caught.value.kind == "overloaded"
    assert len(caught.value.message) < 2_000


@pytest.mark.parametrize("api", APIS)
def test_event_that_never_ends_is_not_read_on(api: ApiKind) -> None:
    error = failure(api, b"data: " + b"x" * (MOST_OF_EVENT + 1), "text/event-stream")

    assert (error.kind, error.retryable) == ("bad_request", False)
    assert "an event of the answer has more than 16 MiB" in error.message
