"""The corpus on broken answers, over real sockets: what is tried again, when, and what never is."""

from __future__ import annotations

import email.utils
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from orchestrator.config.providers import ApiKind
from orchestrator.errors import ModelError
from orchestrator.model.client import Prompt
from orchestrator.model.retry import Retrying, RetryPolicy
from orchestrator.schema.message import AssistantMessage
from tests.support.loops import open_loop, says
from tests.support.model_contract import BASH, adapter, asking, target_of
from tests.support.model_server import CUT_STOPS, REPLIES, ModelServer, Reply, serving
from tests.support.sending import APIS

PIECEWISE = APIS[:3]
RAW = '{"command": "rm -rf build"}'
HOUR = 3_600


def error_reply(
    api: ApiKind, status: int, kind: str, headers: dict[str, str] | None = None
) -> Reply:
    inner: dict[str, Any] = {"type": kind, "message": "not now"}
    if api == "gemini":
        inner = {"code": status, "status": kind.upper(), "message": "not now"}
    body = {"error": inner} | ({"type": "error"} if api == "anthropic" else {})
    return Reply(status, headers or {}, body)


@dataclass
class Asked:
    """One question that is tried again as a session does it, without the waits."""

    api: ApiKind
    server: ModelServer
    more: dict[str, Any] = field(default_factory=dict)
    slept: list[float] = field(default_factory=list)
    told: list[tuple[int, float, str]] = field(default_factory=list)
    seen: str = ""
    """What a reader is left with: what a failed try streamed is void."""

    def answer(self, *, jitter: float = 0.5) -> AssistantMessage:
        return anyio.run(self._answer, jitter)

    def hear(self, delta: Any) -> None:
        self.seen = "" if delta.kind == "void" else self.seen + delta.text

    async def _answer(self, jitter: float) -> AssistantMessage:
        async with adapter(self.api, self.server.address, **self.more) as client:
            trying = Retrying(
                client,
                sleep=self._sleep,
                rng=lambda: jitter,
                on_retry=lambda *told: self.told.append(told),
            )
            return await trying.complete(Prompt("s", asking("hello"), (BASH,)), on_delta=self.hear)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> ApiKind:
    return request.param


def good(api: ApiKind) -> Reply:
    return REPLIES[api](text="all well")


@pytest.mark.case("session-stream-01")
@pytest.mark.parametrize("cut", [True, False], ids=["cut", "closed politely"])
def test_answer_without_its_end_is_asked_for_again(api: ApiKind, cut: bool) -> None:
    whole = REPLIES[api](text="hello there")
    ends = {"anthropic": 2, "gemini": 1, "openai-chat": 2, "openai-responses": 1}[api]
    broken = Reply(events=whole.events[:-ends], named=whole.named, cut=cut)
    with serving(broken, good(api)) as server:
        asked = Asked(api, server)
        message = asked.answer()

    assert (message.text, message.stop_reason) == ("all well", "end_turn")
    assert (asked.seen, len(server.asked), len(asked.told)) == ("all well", 2, 1)


@pytest.mark.case("session-stream-02")
@pytest.mark.parametrize("api", PIECEWISE)
def test_half_a_call_is_dropped_and_asked_for_again(api: ApiKind) -> None:
    whole = REPLIES[api](calls=(("call_1", "bash", RAW),))
    at = {"anthropic": 4, "openai-chat": 3, "openai-responses": 1}[api]
    broken = Reply(events=whole.events[:at], named=whole.named, cut=True)
    with serving(broken, good(api)) as server:
        asked = Asked(api, server)
        message = asked.answer()

    assert (message.text, message.tool_calls) == ("all well", ())
    assert len(server.asked) == 2


@pytest.mark.case("session-stream-04")
def test_silent_stream_is_given_up_and_asked_for_again(api: ApiKind) -> None:
    """The idle limit is shorter here; the stream would stay open for ten minutes."""
    whole = REPLIES[api](text="hello there")
    silent = Reply(events=whole.events[:2], named=whole.named, silent_s=600)
    with serving(silent, good(api)) as server:
        asked = Asked(api, server, {"idle_timeout_s": 0.3})
        message = asked.answer()

    assert (message.text, asked.seen) == ("all well", "all well")
    assert len(server.asked) == 2


@pytest.mark.case("session-stream-05")
def test_answer_that_ends_incomplete_is_recorded_as_cut(api: ApiKind) -> None:
    with serving(REPLIES[api](text="half an answer", stop=CUT_STOPS[api])) as server:
        asked = Asked(api, server)
        message = asked.answer()

    assert (message.text, message.stop_reason) == ("half an answer", "max_tokens")
    assert len(server.asked) == 1


@pytest.mark.case("session-stream-04")
def test_idle_limit_is_shorter_than_ten_minutes() -> None:
    assert 0 < target_of("anthropic", "http://127.0.0.1:1").idle_timeout_s < 600


@pytest.mark.case("session-stream-06")
def test_overload_inside_a_good_status_is_waited_for_unseen(api: ApiKind) -> None:
    event: dict[str, Any] = {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}
    if api == "openai-responses":
        event = {"type": "response.failed", "response": {"error": {"code": "overloaded_error"}}}
    if api == "gemini":
        event = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "x"}}
    named = api not in {"openai-chat", "gemini"}
    with serving(Reply(events=(event,), named=named), good(api)) as server:
        asked = Asked(api, server)
        message = asked.answer()

    assert (message.text, asked.seen) == ("all well", "all well")
    assert len(server.asked) == 2
    assert asked.slept[0] > 0


@pytest.mark.case("session-stream-08")
@pytest.mark.parametrize("jitter", [0.0, 1.0])
def test_wait_that_is_asked_for_is_kept_and_told(api: ApiKind, jitter: float) -> None:
    limited = error_reply(api, 429, "rate_limit_error", {"retry-after": "17"})
    with serving(limited, good(api)) as server:
        asked = Asked(api, server)
        assert asked.answer(jitter=jitter).text == "all well"

    (wait,) = asked.slept
    assert 17 <= wait <= 20
    assert [(attempt, delay) for attempt, delay, _ in asked.told] == [(1, wait)]


@pytest.mark.case("session-stream-08")
def test_wait_has_an_upper_bound(api: ApiKind) -> None:
    """Nobody is kept waiting for hours: the failure is told at once, with the time."""
    limited = error_reply(api, 429, "rate_limit_error", {"retry-after": "86400"})
    with serving(limited, good(api)) as server:
        asked = Asked(api, server)
        with pytest.raises(ModelError, match="asks to wait 86400 s"):
            asked.answer()

    assert (asked.slept, len(server.asked)) == ([], 1)


@pytest.mark.case("session-stream-09")
@pytest.mark.parametrize("hours", [-5, -0.01, 0.01, 2, 24 * 365 * 30])
def test_date_to_wait_for_is_bounded_whatever_the_clock_says(api: ApiKind, hours: float) -> None:
    """The date is hours away, on either side; the server's own clock is not told."""
    date = email.utils.formatdate(time.time() + hours * HOUR, usegmt=True)
    limited = error_reply(api, 429, "rate_limit_error", {"retry-after": date})
    with serving(replace(limited, dateless=True), good(api)) as server:
        asked = Asked(api, server)
        assert asked.answer().text == "all well"

    (wait,) = asked.slept
    assert 0 <= wait <= RetryPolicy().max_retry_after_s + 1


@pytest.mark.case("session-stream-10")
def test_overload_without_a_word_is_backed_off_from(api: ApiKind) -> None:
    """Longer each time, up to a bound, and not at the same moment as everybody."""
    waits = {}
    for jitter in (0.0, 1.0):
        with serving(*[error_reply(api, 529, "overloaded_error")] * 5, good(api)) as server:
            asked = Asked(api, server)
            assert asked.answer(jitter=jitter).text == "all well"
        waits[jitter] = asked.slept

    assert waits[1.0] == sorted(waits[1.0])
    assert max(waits[1.0]) <= RetryPolicy().max_delay_s
    assert all(early < late for early, late in zip(waits[0.0], waits[1.0], strict=True))
    assert min(waits[0.0]) > 0


@pytest.mark.case("session-stream-10")
def test_session_goes_on_after_an_overload_that_lasted(tmp_path: Path) -> None:
    opened = open_loop(tmp_path, ModelError("busy", kind="overloaded", status=529), says("here"))
    with pytest.raises(ModelError, match="busy"):
        anyio.run(opened.loop.run)

    assert anyio.run(opened.loop.run).answer == "here"
    assert opened.model.prompts[0].messages == opened.model.prompts[1].messages


@pytest.mark.case("session-stream-14")
def test_request_that_is_wrong_is_not_sent_again(api: ApiKind) -> None:
    with serving(error_reply(api, 400, "invalid_request_error"), good(api)) as server:
        asked = Asked(api, server)
        with pytest.raises(ModelError) as caught:
            asked.answer()

    assert caught.value.kind == "bad_request"
    assert (len(server.asked), asked.slept, asked.told) == (1, [], [])
