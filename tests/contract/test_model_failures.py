"""What goes wrong on the way to a model, the same for every API."""

from __future__ import annotations

import time
from typing import Any

import anyio
import pytest

from orchestrator.config.providers import ApiKind
from orchestrator.credentials.secret import Secret
from orchestrator.errors import ModelError
from orchestrator.schema.message import AssistantMessage
from tests.support.model_contract import KEY, adapter, ask, asking
from tests.support.model_server import CUT_STOPS, REPLIES, Reply, error_body, serving

APIS: tuple[ApiKind, ...] = ("anthropic", "openai-chat", "openai-responses", "gemini")
PIECEWISE: tuple[ApiKind, ...] = APIS[:3]
"""Arguments of a call come in pieces, and can be cut."""
KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")
CALL = (("call_1", "bash", '{"command": "echo hi"}'),)


def complete(api: ApiKind, *replies: Reply, **more: Any) -> AssistantMessage:
    """Ask a server that gives these replies; return the answer."""

    async def scene(address: str) -> AssistantMessage:
        async with adapter(api, address, **more) as client:
            message, _ = await ask(client, asking("hello"))
            return message

    with serving(*replies) as server:
        return anyio.run(scene, server.address)


def failure(api: ApiKind, *replies: Reply, **more: Any) -> ModelError:
    """Ask a server that gives these replies; return how it failed."""
    with pytest.raises(ModelError) as caught:
        complete(api, *replies, **more)
    return caught.value


@pytest.mark.parametrize("api", APIS)
def test_usage_is_split_into_fresh_and_cached(api: ApiKind) -> None:
    """Input leaves out what came from a cache, whatever the vendor's own sums are."""
    usage = complete(api, REPLIES[api](text="hello")).usage
    written = 0 if api == "gemini" else 3
    assert (usage.input, usage.output, usage.cache_read) == (11, 7, 5)
    assert usage.cache_write == written


@pytest.mark.case("session-stream-01", "session-stream-02")
@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("cut_at", [1, 2, 3, 4])
def test_stream_that_ends_early_is_a_network_failure(api: ApiKind, cut_at: int) -> None:
    """A half message, or half a call, is dropped."""
    whole = REPLIES[api](text="hello", calls=CALL)
    cut = Reply(events=whole.events[:cut_at], named=whole.named, cut=True)
    error = failure(api, cut)
    assert error.kind == "network"
    assert error.retryable


@pytest.mark.parametrize("api", APIS)
def test_stream_closed_cleanly_without_its_end_is_a_network_failure(api: ApiKind) -> None:
    """A proxy that ends a broken answer politely fools nobody."""
    whole = REPLIES[api](text="hello", calls=CALL)
    events = [event for event in whole.events if not _ends(event)]
    assert failure(api, Reply(events=tuple(events), named=whole.named)).kind == "network"


def _ends(event: dict[str, Any]) -> bool:
    choices = [*(event.get("choices") or ()), *(event.get("candidates") or ())]
    finish = any(item.get("finish_reason") or item.get("finishReason") for item in choices)
    return finish or event.get("type") in {"message_stop", "response.completed"}


@pytest.mark.case("session-stream-04")
@pytest.mark.parametrize("api", APIS)
def test_silent_stream_ends_after_its_idle_time(api: ApiKind) -> None:
    """It is given up, and may be tried again."""
    whole = REPLIES[api](text="hello")
    silent = Reply(events=whole.events[:3], named=whole.named, silent_s=30)
    started = time.monotonic()
    error = failure(api, silent, idle_timeout_s=0.3)
    assert error.kind == "network"
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("api", PIECEWISE)
def test_call_cut_by_the_output_limit_stays_raw(api: ApiKind) -> None:
    """Arguments that were cut are kept as they are, and are no arguments."""
    cut = REPLIES[api](calls=(("call_1", "bash", '{"command": "rm -r'),), stop=CUT_STOPS[api])
    message = complete(api, cut)
    assert message.stop_reason == "max_tokens"
    (call,) = message.tool_calls
    assert call.raw_arguments == '{"command": "rm -r'
    assert call.arguments is None


@pytest.mark.parametrize("api", APIS)
def test_calls_without_ids_or_with_twin_ids_get_their_own(api: ApiKind) -> None:
    """Every call can be answered."""
    raw = '{"command": "ls"}'
    message = complete(
        api, REPLIES[api](calls=(("same", "bash", raw), ("same", "bash", '{"command": "pwd"}')))
    )
    if len(message.tool_calls) == 2:
        assert len({call.id for call in message.tool_calls}) == 2
    unnamed = complete(api, REPLIES[api](calls=(("", "bash", raw),)))
    assert all(call.id for call in unnamed.tool_calls)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("status", "kind", "message", "expected"),
    [
        (400, "invalid_request_error", "messages: wrong", "bad_request"),
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000", "overflow"),
        (401, "authentication_error", "no such key", "auth"),
        (403, "permission_error", "not yours", "auth"),
        (404, "not_found_error", "model: nope", "bad_request"),
        (413, "request_too_large", "request exceeds the maximum size of 32 MB", "too_large"),
        (429, "rate_limit_error", "slow down", "rate_limit"),
        (429, "rate_limit_error", "too many tokens, please wait", "rate_limit"),
        (400, "invalid_request_error", "your credit balance is too low", "quota"),
        (500, "api_error", "oops", "server"),
        (529, "overloaded_error", "overloaded", "overloaded"),
    ],
)
def test_status_and_words_tell_the_kind(
    api: ApiKind, status: int, *, kind: str, message: str, expected: str
) -> None:
    """The kind decides what happens next, so it must be right for every vendor."""
    reply = Reply(status=status, body=error_body(api, kind, message))
    error = failure(api, reply)
    assert error.kind == expected
    assert error.status == status
    assert message in error.message


@pytest.mark.parametrize("api", APIS)
def test_body_that_is_no_json_is_still_told(api: ApiKind) -> None:
    """A proxy's page of HTML does not hide what happened."""
    reply = Reply(502, {"content-type": "text/html"}, b"<h1>bad gateway</h1>")
    error = failure(api, reply)
    assert error.kind == "server"
    assert "bad gateway" in error.message


@pytest.mark.case("session-stream-08")
@pytest.mark.parametrize("api", APIS)
def test_retry_after_is_kept(api: ApiKind) -> None:
    """The wait that a provider asks for reaches the retry."""
    body = error_body(api, "rate_limit_error", "slow down")
    assert failure(api, Reply(429, {"retry-after": "17"}, body)).retry_after_s == 17


@pytest.mark.case("session-stream-06")
@pytest.mark.parametrize("api", APIS)
def test_overload_inside_a_good_status_is_an_overload(api: ApiKind) -> None:
    """200 OK and then an error event is an error."""
    inner = {"type": "overloaded_error", "message": "busy"}
    event = {"type": "error", "error": inner}
    if api == "openai-responses":
        event = {"type": "response.failed", "response": {"error": {"code": "overloaded_error"}}}
    if api == "gemini":
        event = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}}
    named = api not in {"openai-chat", "gemini"}
    assert failure(api, Reply(events=(event,), named=named)).kind == "overloaded"


@pytest.mark.parametrize("api", APIS)
def test_nobody_listening_is_a_network_failure(api: ApiKind) -> None:
    """A local server that is not running is said plainly."""
    with serving(Reply()) as server:
        address = server.address

    async def scene() -> None:
        async with adapter(api, address) as client:
            await ask(client, asking("hello"))

    with pytest.raises(ModelError) as caught:
        anyio.run(scene)
    assert caught.value.kind == "network"


@pytest.mark.parametrize("api", APIS)
def test_redirect_is_refused_and_the_key_stays(api: ApiKind) -> None:
    """A key goes to its base URL and never where that points to."""
    with serving(REPLIES[api](text="hello")) as elsewhere:
        where = {"location": f"{elsewhere.address}/v1/messages"}
        error = failure(api, Reply(307, where, {}))
        assert elsewhere.asked == []
    assert error.kind == "bad_request"
    assert "redirects" in error.message


@pytest.mark.parametrize("api", APIS)
def test_key_that_a_server_repeats_is_struck_out(api: ApiKind) -> None:
    """No message holds a key, also when the server says it."""
    words = f"the key {KEY.reveal()} is wrong"
    error = failure(api, Reply(401, {}, error_body(api, "authentication_error", words)))
    assert KEY.reveal() not in str(error)
    assert error.__cause__ is None
    assert "[key]" in error.message


@pytest.mark.parametrize("api", APIS)
def test_environment_adds_no_header_and_no_key(
    api: ApiKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDKs read the environment; nothing of it reaches another address."""
    planted = {
        "ANTHROPIC_API_KEY": "planted-1",
        "ANTHROPIC_AUTH_TOKEN": "planted-2",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Gateway: planted-3",
        "OPENAI_API_KEY": "planted-4",
        "OPENAI_ORG_ID": "planted-5",
        "OPENAI_PROJECT_ID": "planted-6",
        "OPENAI_CUSTOM_HEADERS": "X-Gateway: planted-7",
        "GEMINI_API_KEY": "planted-8",
        "GOOGLE_CLOUD_PROJECT": "planted-9",
        "GOOGLE_GENAI_API_VERSION": "planted-10",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1/planted-11",
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_GENAI_CLIENT_MODE": "replay",
    }
    for name, value in planted.items():
        monkeypatch.setenv(name, value)

    async def scene(address: str, key: Secret | None) -> None:
        async with adapter(api, address, key, headers={"x-team": "blue"}) as client:
            await ask(client, asking("hello"))

    with serving(REPLIES[api](text="hello")) as server:
        anyio.run(scene, server.address, KEY)
        anyio.run(scene, server.address, None)
        sent = [asked.headers for asked in server.asked]
    assert all("planted" not in value for headers in sent for value in headers.values())
    assert [headers["x-team"] for headers in sent] == ["blue", "blue"]
    carried = [sent[0][name] for name in KEY_HEADERS if name in sent[0]]
    assert carried
    assert all(value.endswith(KEY.reveal()) for value in carried)
    assert not set(KEY_HEADERS) & set(sent[1])
    assert not any("planted" in asked.path for asked in server.asked)


@pytest.mark.parametrize("api", APIS)
def test_loopback_is_asked_past_any_proxy(api: ApiKind, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in the environment never sees what goes to this machine's own server."""
    with serving(Reply(500, {}, {})) as proxy, serving(REPLIES[api](text="hello")) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.address)

        async def scene() -> None:
            async with adapter(api, server.address) as client:
                await ask(client, asking("hello"))

        anyio.run(scene)
        assert proxy.asked == []
        assert len(server.asked) == 1


@pytest.mark.parametrize(("code", "kind"), [(401, "auth"), ("402", "quota"), (503, "overloaded")])
def test_error_event_counts_by_its_own_number(code: object, kind: str) -> None:
    """A gateway that had said 200 has nothing but the number to tell with."""
    event = {"error": {"message": "upstream", "code": code}}
    begun = REPLIES["openai-chat"](text="hello").events[:2]
    assert failure("openai-chat", Reply(events=(*begun, event), named=False)).kind == kind
