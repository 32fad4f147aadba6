"""The corpus on what vendors say and take differently: calls, ids, thoughts, refusals, pictures."""

from __future__ import annotations

import base64
import io
import json
import re
from typing import Any

import anyio
import pytest
from PIL import Image as Picture

from orchestrator.errors import ModelError
from orchestrator.model.client import ModelInfo
from orchestrator.model.dialect import dialect_of
from orchestrator.model.projection import OLD
from orchestrator.schema.codec import decode_message, encode_message
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolMessage,
    UserMessage,
)
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import ReadRequest
from orchestrator.tools.read import ReadTool
from tests.support.boxed_files import BoxedFiles
from tests.support.model_contract import adapter, ask, asking
from tests.support.model_history import REASONING, asked, call, result, said
from tests.support.model_server import Reply, serving
from tests.support.sending import assert_any_api_takes, request_to

WIDE = (2162, 322)
MOST_WIDE_ONES = 20
"""With more pictures than this Anthropic takes none of more than 2,000 pixels."""


def chat_calls(*deltas: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """Return the calls of an answer whose stream holds these deltas of calls."""

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}

    events = [*(chunk({"tool_calls": [delta]}) for delta in deltas), chunk({}, "tool_calls")]

    async def scene(address: str) -> AssistantMessage:
        async with adapter("openai-chat", address) as client:
            return (await ask(client, asking("go")))[0]

    with serving(Reply(events=tuple(events), named=False, done=True)) as server:
        message = anyio.run(scene, server.address)
    return [(one.id, one.name, one.arguments) for one in message.tool_calls]


def delta(arguments: str, name: str = "", **more: Any) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"type": "function", "function": function} | more


@pytest.mark.case("session-dialect-01")
def test_deltas_without_index_make_one_call() -> None:
    found = chat_calls(delta('{"x"', "bash", id="1"), delta(":"), delta("1}"))

    assert found == [("1", "bash", {"x": 1})]


@pytest.mark.case("session-dialect-02")
@pytest.mark.parametrize("turns", [False, True], ids=["one after the other", "by turns"])
def test_two_calls_without_index_keep_their_arguments(turns: bool) -> None:
    begin = [delta('{"x"', "bash", id="1"), delta('{"y"', "read", id="2")]
    end = [delta(":1}", id="1"), delta(":2}", id="2")]
    order = [*begin, *end] if turns else [begin[0], end[0], begin[1], end[1]]

    assert chat_calls(*order) == [("1", "bash", {"x": 1}), ("2", "read", {"y": 2})]


@pytest.mark.case("session-dialect-03")
def test_two_ids_on_one_index_are_two_calls() -> None:
    found = chat_calls(
        delta('{"x":', "bash", id="1", index=0),
        delta("1}", index=0),
        delta('{"y":', "read", id="2", index=0),
        delta("2}", index=0),
    )

    assert found == [("1", "bash", {"x": 1}), ("2", "read", {"y": 2})]


HEAD = "call_a|fc_b" + "x" * 438
LONG_IDS = (HEAD + "y", HEAD + "z", "call_a|fc_b", "call_a_fc_b", "c" * 60 + "1", "c" * 60 + "2")


def long_history() -> tuple[Message, ...]:
    return (
        asked("look"),
        said(*(call(name) for name in LONG_IDS)),
        # Results came in another order.
        ToolMessage(
            tuple(result(name, f"out of {name[-1]}{len(name)}") for name in LONG_IDS[::-1])
        ),
        asked("and?"),
    )


def paired(api: Any) -> list[tuple[str, str]]:
    """Return the ids of calls and the outputs that the request pairs them with."""
    body = request_to(api, long_history())
    if api == "anthropic":
        made = [p for m in body["messages"] for p in m["content"]]
        calls = [p["id"] for p in made if p["type"] == "tool_use"]
        outs = {p["tool_use_id"]: p["content"] for p in made if p["type"] == "tool_result"}
    elif api == "openai-chat":
        calls = [c["id"] for m in body["messages"] for c in m.get("tool_calls") or ()]
        outs = {m["tool_call_id"]: m["content"] for m in body["messages"] if m["role"] == "tool"}
    else:
        items = [item for item in body["input"] if "call_id" in item]
        calls = [item["call_id"] for item in items if "arguments" in item]
        outs = {item["call_id"]: item["output"] for item in items if "output" in item}
    return [(name, outs[name]) for name in calls]


OUTPUTS = [f"out of {name[-1]}{len(name)}" for name in LONG_IDS]


@pytest.mark.case("session-dialect-07")
def test_foreign_ids_fit_anthropics_alphabet_and_stay_paired() -> None:
    found = paired("anthropic")

    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", name) for name, _ in found)
    assert [output for _, output in found] == OUTPUTS


@pytest.mark.case("session-dialect-08")
@pytest.mark.parametrize(("api", "most"), [("openai-chat", 40), ("openai-responses", 64)])
def test_long_ids_are_shortened_alike_and_never_meet(api: str, most: int) -> None:
    found = paired(api)

    assert all(0 < len(name) <= most for name, _ in found)
    assert len({name for name, _ in found}) == len(LONG_IDS)
    assert [output for _, output in found] == OUTPUTS
    assert paired(api) == found


@pytest.mark.case("session-dialect-09")
@pytest.mark.parametrize(
    ("provider", "signature"),
    [
        ("deepseek", "reasoning_content"),
        ("openai", REASONING),
        ("gemini", "c2ln"),
        ("other-anthropic", "c2ln"),
        ("anthropic", "c2ln"),
        ("deepseek", None),
    ],
)
def test_thought_of_another_model_is_no_thinking_block(
    provider: str, signature: str | None
) -> None:
    """Also where it carries the provider's own name: another model of it has signed."""
    thought = Thinking("a foreign thought", provider, signature)
    history = (
        asked("look"),
        AssistantMessage((thought, call("c1")), "tool_use", model=f"{provider}/other"),
        ToolMessage((result("c1"),)),
        AssistantMessage((thought, Text("so")), "end_turn", model=f"{provider}/other"),
        AssistantMessage((thought,), "end_turn", model=f"{provider}/other"),
        asked("and?"),
    )
    info = ModelInfo("anthropic", "claude-x", 100_000, 4_096)
    body = request_to("anthropic", history, info=info)

    kinds = [part["type"] for message in body["messages"] for part in message["content"]]
    assert kinds == ["text", "tool_use", "tool_result", "text", "text"]
    assert signature is None or signature not in json.dumps(body)


@pytest.mark.case("session-dialect-13")
def test_reasoning_content_goes_back_to_the_vendor_that_wants_it_alone() -> None:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}

    first = Reply(
        events=(
            chunk({"reasoning_content": "I must look"}),
            chunk({"tool_calls": [delta('{"command": "ls"}', "bash", id="c1", index=0)]}),
            chunk({}, "tool_calls"),
        ),
        named=False,
        done=True,
    )
    wanting = dialect_of("deepseek", "http://127.0.0.1")

    async def scene(address: str) -> tuple[Message, ...]:
        async with adapter("openai-chat", address, dialect=wanting) as client:
            message, _ = await ask(client, asking("go"))
            history = (*asking("go"), message, ToolMessage((result("c1"),)))
            await ask(client, history)
            return history

    with serving(first) as server:
        history = anyio.run(scene, server.address)
    sent = server.asked[1].body["messages"][2]
    assert (sent["reasoning_content"], sent["tool_calls"][0]["id"]) == ("I must look", "c1")
    for name in ("openai", "groq", "mistral"):
        other = dialect_of(name, "http://127.0.0.1")
        info = ModelInfo(name, "another", 100_000, 4_096)
        assert "I must look" not in str(
            request_to("openai-chat", history, info=info, dialect=other)
        )
    assert "I must look" not in str(request_to("anthropic", history, info=info))


def refusal(status: int, message: str, code: str | None = None) -> ModelError:
    """Return how a request that is answered so fails."""
    body = {"error": {"type": "invalid_request_error", "code": code, "message": message}}

    async def scene(address: str) -> None:
        async with adapter("openai-chat", address) as client:
            await ask(client, asking("hello"))

    with serving(Reply(status, {}, body)) as server, pytest.raises(ModelError) as caught:
        anyio.run(scene, server.address)
    return caught.value


@pytest.mark.case("session-overflow-01")
@pytest.mark.parametrize("words", ["something went wrong", "", "Bitte kürzen Sie die Anfrage."])
def test_code_alone_tells_an_overflow(words: str) -> None:
    assert refusal(400, words, "context_length_exceeded").kind == "overflow"


ANTHROPIC = "prompt is too long: 213462 tokens > 200000 maximum"
VLLM = (
    "This model's maximum context length is 32768 tokens. However, you requested 8192 output tokens "
    "and your prompt contains at least 24577 input tokens, for a total of at least 32769 tokens. "
    "Please reduce the length of the input prompt or the number of requested output tokens."
)
CONFIGURED = "Input length (35,000 tokens) exceeds the configured context size of 32,768 tokens."


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(ANTHROPIC, marks=pytest.mark.case("session-overflow-02")),
        pytest.param(VLLM, marks=pytest.mark.case("session-overflow-03")),
        pytest.param(CONFIGURED, marks=pytest.mark.case("session-overflow-04")),
    ],
)
def test_words_tell_an_overflow(words: str) -> None:
    error = refusal(400, words)

    assert (error.kind, error.retryable) == ("overflow", False)


@pytest.mark.case("session-overflow-08")
@pytest.mark.parametrize(
    "words", ["request_too_large: Request exceeds the maximum size of 32 MB", "Payload Too Large"]
)
def test_request_of_too_many_bytes_is_no_overflow(words: str) -> None:
    """What follows: pictures are left out, and it is sent again; see the loop and the context."""
    assert refusal(413, words).kind == "too_large"


@pytest.mark.case("session-overflow-09")
@pytest.mark.parametrize("status", [400, 429, 503])
def test_too_many_tokens_please_wait_is_no_overflow(status: int) -> None:
    error = refusal(status, "Too many tokens, please wait before trying again.")

    assert (error.kind, error.retryable) == ("rate_limit", True)


def drawn(size: tuple[int, int]) -> bytes:
    sink = io.BytesIO()
    Picture.new("RGB", size, (200, 30, 40)).save(sink, "PNG")
    return sink.getvalue()


def size_of(data: str) -> tuple[int, int]:
    with Picture.open(io.BytesIO(base64.b64decode(data))) as opened:
        return opened.size


def pictures_of(history: tuple[Message, ...]) -> list[tuple[int, int]]:
    """Return the sizes of the pictures that Anthropic is sent; every API takes the request."""
    assert_any_api_takes(history)
    body = request_to("anthropic", history)
    parts = [part for message in body["messages"] for part in message["content"]]
    inner = [p for part in parts if isinstance(part.get("content"), list) for p in part["content"]]
    return [size_of(p["source"]["data"]) for p in (*parts, *inner) if p["type"] == "image"]


@pytest.mark.case("session-image-01")
@pytest.mark.parametrize("where", ["said", "result"])
def test_wide_picture_among_many_keeps_the_session_usable(where: str) -> None:
    """So few are sent that no stricter limit holds; the others leave a word."""
    small, wide = (Image("image/png", base64.b64encode(drawn(s)).decode()) for s in ((9, 9), WIDE))
    history: tuple[Message, ...] = ()
    for number, picture in enumerate([small] * 21 + [wide]):
        shown: tuple[Message, ...] = (UserMessage((Text("see"), picture)),)
        if where == "result":
            name = f"c{number}"
            shown = (asked("look"), said(call(name)), ToolMessage((result(name, "", picture),)))
        history += shown
    for later in ((), (said(Text("nice"), stop="end_turn"), asked("and now?"))):
        sizes = pictures_of(history + later)
        assert len(sizes) <= MOST_WIDE_ONES
        assert sizes[-1] == WIDE
        assert str(request_to("anthropic", history + later)).count(OLD) == 22 - len(sizes)


@pytest.mark.case("session-image-02")
def test_picture_of_many_pixels_is_scaled_before_it_is_stored(box: BoxedFiles) -> None:
    """Few bytes do not make it small."""
    data = drawn((10_000, 800))
    assert len(data) < 100_000
    box.put("wide.png", data)

    rendered = ReadTool().render(ReadRequest("wide.png"), Outcome(box.data("read", "wide.png")))
    told = result("c1", rendered.output, *rendered.images)
    stored = decode_message(encode_message(ToolMessage((told,))))
    ((width, height),) = pictures_of((asked("look"), said(call("c1")), stored))

    assert width <= 2_000
    assert (width, height) == (width, round(width * 800 / 10_000))
    assert "10000x800" in rendered.output
