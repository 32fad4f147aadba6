"""The adapter over HTTP, what it sends and what it makes of the answer."""

import base64
from types import SimpleNamespace

import anyio
import pytest
from google.genai import errors

from orchestrator.errors import ModelError
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.model.gemini_failure import GeminiTranslator
from orchestrator.model.gemini_messages import GeminiMessages
from orchestrator.model.sdk import open_adapter
from orchestrator.schema.message import ToolMessage, ToolResult
from tests.support.model_contract import BASH, KEY, adapter, ask, asking, target_of
from tests.support.model_server import Reply, gemini_reply, serving

INFO = ModelInfo("gemini", "gemini-3.8-flash", 100_000, 4_096, thinking=("low", "high"))


def test_mark_of_a_call_goes_back_over_the_wire_as_it_came():
    """Bytes become text and bytes again, also those that text writes in two ways."""
    mark = base64.b64encode(b"\xfb\xff\xfe sig").decode()
    part = {"functionCall": {"name": "bash", "args": {}}, "thoughtSignature": mark}
    content = {"role": "model", "parts": [part]}
    first = Reply(
        events=({"candidates": [{"content": content, "finishReason": "STOP"}]},), named=False
    )

    async def scene(address):
        target = target_of("gemini", address, info=INFO)
        async with open_adapter(target, KEY) as client:
            messages = asking("hello")
            answer, _ = await ask(client, messages)
            results = ToolMessage(
                tuple(ToolResult(call.id, call.name, "ok") for call in answer.tool_calls)
            )
            await ask(client, (*messages, answer, results))

    with serving(first, gemini_reply(text="done")) as server:
        anyio.run(scene, server.address)
        sent = server.asked[1].body["contents"][1]["parts"][0]["thoughtSignature"]
    # JSON of the API takes both of base64's alphabets; the SDK writes the one for addresses.
    assert sent.translate(str.maketrans("-_", "+/")) == mark


def test_level_of_thinking_is_sent():
    """In the words of the API."""

    async def scene(address):
        async with open_adapter(target_of("gemini", address, info=INFO), KEY) as client:
            prompt = Prompt("", asking("hello"), (BASH,), thinking="medium")
            await client.complete(prompt, on_delta=lambda _: None)

    with serving(gemini_reply(text="hi")) as server:
        anyio.run(scene, server.address)
        (asked,) = server.asked
    config = asked.body["generationConfig"]["thinkingConfig"]
    # The API takes names in both cases; the SDK writes these.
    assert config == {"thinking_level": "HIGH", "include_thoughts": True}
    assert asked.path == "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse"


def test_address_may_name_the_version():
    """People copy it with and without."""

    async def scene(address):
        async with adapter("gemini", f"{address}/v1beta") as client:
            await ask(client, asking("hello"))

    with serving(gemini_reply(text="hi")) as server:
        anyio.run(scene, server.address)
        assert server.asked[0].path.startswith("/v1beta/models/mock-model:")


def test_sdk_says_nothing_on_the_terminal(monkeypatch, capfd):
    """Of keys that it finds and that are not used, it would say that it uses them."""
    monkeypatch.setenv("GOOGLE_API_KEY", "planted-1")
    monkeypatch.setenv("GEMINI_API_KEY", "planted-2")
    end = {"candidates": [{"content": {"parts": []}, "finishReason": "A_NEW_WORD"}]}

    async def scene(address):
        async with adapter("gemini", address) as client:
            message, _ = await ask(client, asking("hello"))
            assert message.stop_word == "A_NEW_WORD"

    reply = Reply(events=(end,), named=False)
    with serving(reply) as server:
        anyio.run(scene, server.address)
    assert server.asked[0].headers["x-goog-api-key"] == KEY.reveal()
    assert capfd.readouterr() == ("", "")


def test_signs_of_life_alone_are_no_answer_for_ever():
    """As with the other APIs; the stream is closed."""
    closed = []

    class Chunk:
        def model_dump(self, **_):
            return {}

    async def endless(**_):
        async def chunks():
            try:
                while True:
                    await anyio.sleep(0.01)
                    yield Chunk()
            finally:
                closed.append(True)

        return chunks()

    client = SimpleNamespace(models=SimpleNamespace(generate_content_stream=endless))
    target = target_of("gemini", "http://x", info=INFO)
    failures = GeminiTranslator(errors, target.info.id, None)

    async def scene():
        model = GeminiMessages(client, target, failures, stalled_s=0.1)
        await model.complete(Prompt("", asking("hello")), on_delta=lambda _: None)

    with pytest.raises(ModelError, match=r"signs of life came for 0\.1 s"):
        anyio.run(scene)
    assert closed


@pytest.mark.parametrize("args", [["a"], "a"])
def test_event_that_cannot_be_read_leaves_nothing_open(args, caplog):
    """Else the event loop tells a traceback of the SDK's generators when it ends."""
    part = {"functionCall": {"name": "bash", "args": args}}
    event = {"candidates": [{"content": {"role": "model", "parts": [part]}}]}

    async def scene(address):
        async with adapter("gemini", address) as client:
            with pytest.raises(ModelError, match=r"cannot be read: .*functionCall\.args"):
                await ask(client, asking("hello"))

    with serving(Reply(events=(event,), named=False)) as server:
        anyio.run(scene, server.address)
    assert caplog.messages == []
