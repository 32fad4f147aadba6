"""One conversation with a tool call, over HTTP, with every API and every kind of server."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from orchestrator.config.providers import ApiKind
from orchestrator.credentials.secret import Secret
from orchestrator.errors import ModelError
from orchestrator.model.client import ModelClient
from orchestrator.model.local import INFO, serve_local
from orchestrator.model.script_file import parse_script
from orchestrator.model.scripted import ScriptedModel
from orchestrator.schema.message import ToolMessage, ToolResult
from tests.support.aimock import aimock, journal
from tests.support.model_bodies import faults
from tests.support.model_contract import adapter, ask, asking, check_conversation
from tests.support.model_server import REPLIES, Reply, serving

APIS: tuple[ApiKind, ...] = ("anthropic", "openai-chat", "openai-responses", "gemini")
LOCAL: tuple[ApiKind, ...] = APIS[:3]
"""What the real local server speaks."""
PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/mock-model:streamGenerateContent",
}
MOCK_KEY = "sk-the-right-one"

SCRIPT = """
version: 1
turns:
  - tool_calls: [{name: bash, arguments: {command: echo hi}}]
  - text: The command printed hi.
"""


def test_scripted_model_holds_the_conversation() -> None:
    """The scripted model keeps the same contract as the real ones."""
    model = ScriptedModel(parse_script(SCRIPT, "script.yaml"), source="script.yaml")
    assert anyio.run(check_conversation, model) == "The command printed hi."


@pytest.mark.parametrize("api", APIS)
def test_conversation_streams_and_sends_valid_bodies(api: ApiKind) -> None:
    """Each API carries call and result, and its bodies are what the vendor documents."""
    reply = REPLIES[api]
    call = reply(calls=(("call_1", "bash", '{"command": "echo hi"}'),))

    async def scene(address: str) -> str:
        async with adapter(api, address) as client:
            return await check_conversation(client)

    with serving(call, reply(text="It printed hi.")) as server:
        assert anyio.run(scene, server.address) == "It printed hi."
    assert all(asked.path.startswith(PATHS[api]) for asked in server.asked)
    if api != "gemini":
        # Its SDK writes the body itself; what we give it is held in test_model_bodies.
        assert [faults(api, asked.body) for asked in server.asked] == [[], []]
        assert [asked.body["stream"] for asked in server.asked] == [True, True]


def _thinking_reply(api: ApiKind) -> Reply:
    """Return an answer of a thought and a call, as the vendor sends it."""
    arguments = '{"command": "echo hi"}'
    if api == "openai-responses":
        thought = {"type": "reasoning", "id": "rs_1", "encrypted_content": SEAL, "summary": []}
        call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "bash"}
        items = [thought, call | {"arguments": arguments, "status": "completed"}]
        response = {"id": "r1", "status": "completed", "output": items}
        return Reply(events=({"type": "response.completed", "response": response},))
    if api == "gemini":
        part = {"functionCall": {"name": "bash", "args": {}}, "thoughtSignature": SEAL}
        content = {"role": "model", "parts": [part]}
        end = {"candidates": [{"content": content, "finishReason": "STOP"}]}
        return Reply(events=(end,), named=False)
    whole = REPLIES[api](calls=(("call_1", "bash", arguments),))
    block = {"type": "thinking", "thinking": "hm", "signature": SEAL}
    start = {"type": "content_block_start", "index": -1, "content_block": block}
    first, *rest = whole.events
    return Reply(events=(first, start, *rest))


SEAL = "c2VhbGVkIQ=="


@pytest.mark.case("session-dialect-11")
@pytest.mark.parametrize("api", [api for api in APIS if api != "openai-chat"])
def test_thoughts_come_back_sealed_as_they_went(api: ApiKind) -> None:
    """Nothing is stored there, so the second turn brings them along."""

    async def scene(address: str) -> None:
        async with adapter(api, address, reasoning=True) as client:
            question = asking("Run the command: echo hi")
            first, _ = await ask(client, question)
            (call,) = first.tool_calls
            result = ToolMessage((ToolResult(call.id, call.name, "hi"),))
            await ask(client, (*question, first, result))

    with serving(_thinking_reply(api), REPLIES[api](text="It printed hi.")) as server:
        anyio.run(scene, server.address)
        first, second = (json.dumps(asked.body) for asked in server.asked)
    assert SEAL not in first
    assert second.count(SEAL) == 1
    if api == "openai-responses":
        assert [asked.body["store"] for asked in server.asked] == [False, False]
        assert server.asked[0].body["include"] == ["reasoning.encrypted_content"]


@pytest.fixture(scope="module")
def mock_address() -> AsyncIterator[str]:
    with aimock(MOCK_KEY) as address:
        yield address


@pytest.mark.parametrize("api", APIS)
def test_independent_mock_holds_the_conversation(api: ApiKind, mock_address: str) -> None:
    """A server that others wrote understands us, and we it."""

    async def scene() -> str:
        async with adapter(api, mock_address, Secret(MOCK_KEY)) as client:
            return await check_conversation(client)

    assert anyio.run(scene) == "The command printed hi."
    paths = {entry["path"].partition("?")[0] for entry in journal(mock_address, MOCK_KEY)}
    assert PATHS[api] in paths


@pytest.mark.parametrize("api", APIS)
def test_independent_mock_refuses_a_wrong_key(api: ApiKind, mock_address: str) -> None:
    """A refused key is an auth failure, which is never tried again."""

    async def scene() -> None:
        async with adapter(api, mock_address, Secret("sk-wrong")) as client:
            await ask(client, asking("hello"))

    with pytest.raises(ModelError) as caught:
        anyio.run(scene)
    assert caught.value.kind == "auth"
    assert not caught.value.retryable
    assert "sk-wrong" not in str(caught.value)


@asynccontextmanager
async def _real(api: ApiKind) -> AsyncIterator[ModelClient]:
    async with (
        serve_local(os.environ) as server,
        adapter(api, server.address, server.key, info=INFO) as client,
    ):
        yield client


@pytest.mark.model
@pytest.mark.parametrize("api", LOCAL)
def test_real_model_holds_the_conversation(api: ApiKind) -> None:
    """A real model behind a real server calls the tool and tells what came back."""

    async def scene() -> str:
        async with _real(api) as client:
            return await check_conversation(client, output="blue whale")

    assert "blue whale" in anyio.run(scene)


@pytest.mark.model
@pytest.mark.parametrize("api", LOCAL)
def test_real_model_reports_its_usage(api: ApiKind) -> None:
    """A real server's counts arrive."""

    async def scene() -> None:
        async with _real(api) as client:
            message, _ = await ask(client, asking("Run the command: ls"))
            assert message.usage.output > 0
            assert message.usage.input + message.usage.cache_read > 0

    anyio.run(scene)
