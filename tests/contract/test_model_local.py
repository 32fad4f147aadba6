"""A real model behind a real server, in each API that it speaks (matrix.yaml names the cells).

A relay keeps each request as it came over the wire, and it is held against the vendor's documents.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.from_thread
import pytest

from orchestrator.config.dialect import DialectSettings
from orchestrator.config.providers import ApiKind, ModelSettings, ProviderSettings
from orchestrator.errors import ModelError
from orchestrator.model.client import Delta, Prompt
from orchestrator.model.local import INFO, LocalServer, serve_local
from orchestrator.schema.event import Retry, ToolEnd
from orchestrator.schema.head_event import ContextTrimmed
from orchestrator.schema.message import Image
from tests.support.api_talk import MODELS, open_talk, settings_of
from tests.support.model_contract import adapter, ask, asking
from tests.support.model_history import PIXEL
from tests.support.relay import Relay, relaying
from tests.support.vendor import Say, Vendor, body_faults

pytestmark = pytest.mark.model

LOCAL: tuple[ApiKind, ...] = ("anthropic", "openai-responses", "openai-chat")
STORY = asking("Tell me a long story about the sea.")
PAIRS: tuple[tuple[ApiKind, ApiKind], ...] = (
    ("anthropic", "gemini"),
    ("openai-responses", "anthropic"),
    ("openai-chat", "openai-responses"),
    ("openai-chat", "openai-chat"),
)
TWO = (
    ("call_1", "bash", '{"command": "echo hi"}'),
    ("call_2", "bash", '{"command": "ls"}'),
)


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_local(os.environ)) as server,
    ):
        yield server


@pytest.fixture
def relay(server: LocalServer) -> Iterator[Relay]:
    with relaying(server.address) as relay:
        yield relay


def check_bodies(relay: Relay, api: ApiKind) -> None:
    """Hold every request that was sent against the vendor's documents."""
    assert relay.asked
    assert [body_faults(api, asked.body) for asked in relay.asked] == [[]] * len(relay.asked)


@pytest.mark.parametrize("api", LOCAL)
def test_stream(api: ApiKind, server: LocalServer, relay: Relay) -> None:
    """An answer comes in pieces, and whole."""

    async def scene() -> None:
        pieces: list[Delta] = []
        brief = replace(INFO, max_output=40)
        async with adapter(api, relay.address, server.key, info=brief) as client:
            message = await client.complete(Prompt("", STORY), on_delta=pieces.append)
        assert message.stop_reason == "max_tokens"
        assert message.text == "".join(piece.text for piece in pieces)
        assert len(pieces) > 5
        assert message.usage.output > 5

    anyio.run(scene)
    check_bodies(relay, api)


@pytest.mark.parametrize("api", LOCAL)
def test_cancel(api: ApiKind, server: LocalServer, relay: Relay) -> None:
    """The server hears of it: its one place is free for the next request at once."""

    async def scene() -> None:
        async with adapter(api, relay.address, server.key, info=INFO) as client:
            with anyio.CancelScope() as scope:
                await client.complete(Prompt("", STORY), on_delta=lambda _: scope.cancel())
            assert scope.cancelled_caught
            assert await anyio.to_thread.run_sync(relay.hung_up.wait, 30)
            message, _ = await ask(client, asking("Run the command: ls"))
            assert message.tool_calls

    anyio.run(scene)
    check_bodies(relay, api)


@pytest.mark.parametrize("api", LOCAL)
def test_overflow(api: ApiKind, server: LocalServer, relay: Relay) -> None:
    """What is longer than the server's window is known as that in each API's form of an error."""

    async def scene() -> ModelError:
        async with adapter(api, relay.address, server.key, info=INFO) as client:
            with pytest.raises(ModelError) as caught:
                await ask(client, asking("word " * (INFO.context_window + 1_000)))
            return caught.value

    error = anyio.run(scene)
    assert error.kind == "overflow"
    assert not error.retryable
    check_bodies(relay, api)


@pytest.mark.parametrize("api", LOCAL)
def test_cut_stream(api: ApiKind) -> None:
    """A server that dies in the middle of an answer leaves none."""

    async def scene() -> ModelError:
        async with (
            serve_local(os.environ) as server,
            adapter(api, server.address, server.key, info=INFO) as client,
        ):
            with pytest.raises(ModelError) as caught:
                await client.complete(
                    Prompt("", STORY), on_delta=lambda _: os.kill(server.pid, signal.SIGKILL)
                )
            return caught.value

    error = anyio.run(scene)
    assert error.kind == "network"
    assert error.retryable


def provider_of(api: ApiKind, relay: Relay, *, images: bool = False) -> ProviderSettings:
    """Return the local server as a provider in the configuration."""
    size = ModelSettings(
        context_window=INFO.context_window, max_output=INFO.max_output, images=images
    )
    return ProviderSettings(
        api=api,
        base_url=f"{relay.address}/v1" if api.startswith("openai") else relay.address,
        dialect=DialectSettings(stream_usage=True),
        models={INFO.name: size},
    )


@pytest.mark.parametrize("api", LOCAL)
def test_tools(api: ApiKind, server: LocalServer, relay: Relay, tmp_path: Path) -> None:
    """A session runs what the model asks for, and the model tells what came out."""

    async def scene() -> str:
        providers = {"own": provider_of(api, relay)}
        async with open_talk(
            tmp_path, f"own/{INFO.name}", providers, key=server.key, thinking=None
        ) as talk:
            answer = (await talk.say("Run the command: echo blue whale")).answer
            assert [ended.output.strip() for ended in talk.of(ToolEnd)] == ["blue whale"]
            return answer

    assert "blue whale" in anyio.run(scene)
    check_bodies(relay, api)


@pytest.mark.parametrize("api", LOCAL)
def test_picture_for_a_model_that_sees_none(
    api: ApiKind, server: LocalServer, relay: Relay, tmp_path: Path
) -> None:
    """The server calls it a failure of its own; the session goes on without the picture."""

    async def scene() -> None:
        providers = {"own": provider_of(api, relay, images=True)}
        async with open_talk(
            tmp_path, f"own/{INFO.name}", providers, key=server.key, thinking=None
        ) as talk:
            picture = Image("image/png", PIXEL)
            ended = await talk.say(picture, "Run the command: echo blue whale")
            assert "blue whale" in ended.answer
            assert talk.of(Retry) == []
            assert [event.part for event in talk.of(ContextTrimmed)] == ["images"]

    anyio.run(scene)
    check_bodies(relay, api)
    assert [PIXEL in str(asked.body) for asked in relay.asked] == [True, False, False]


@pytest.mark.parametrize(("api", "other"), PAIRS)
def test_switch(
    api: ApiKind, other: ApiKind, server: LocalServer, relay: Relay, tmp_path: Path
) -> None:
    """To the real model in mid-session, and back to a vendor that checks its signatures."""

    async def scene(vendor: Vendor) -> list[str]:
        there, own = f"there/{MODELS[other]}", f"own/{INFO.name}"
        providers = {
            "there": settings_of(other, vendor.address),
            "own": provider_of(api, relay),
        }
        async with open_talk(tmp_path, there, providers, key=server.key) as talk:
            answers = [(await talk.say("look at this", Image("image/png", PIXEL))).answer]
            await talk.use(own)
            answers.append((await talk.say("Run the command: echo blue whale")).answer)
            assert talk.of(ToolEnd)[-1].output.strip() == "blue whale"
            await talk.use(there)
            return [*answers, (await talk.say("and you?")).answer]

    script = (
        Say("I look.", TWO, thought="it needs two calls"),
        Say("I see.", thought="it is done"),
        Say("All done.", thought="nothing is left"),
    )
    with Vendor(other, *script) as vendor:
        first, second, third = anyio.run(scene, vendor)
    assert vendor.refused == []
    assert (first, third) == ("I see.", "All done.")
    assert "blue whale" in second
    assert vendor.came_back() == vendor.issued[:2]
    check_bodies(relay, api)
