"""Every API through what a session meets, against a mock that others wrote (matrix.yaml names the cells).

A relay keeps each request as it came over the wire, and it is held against the vendor's documents.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import anyio
import pytest

from orchestrator.config.providers import ApiKind, ProviderSettings
from orchestrator.credentials.secret import Secret
from orchestrator.schema.event import MessageDelta, Retry, ToolEnd
from orchestrator.schema.head_event import CompactionEnd
from orchestrator.schema.message import AssistantMessage, Image, ToolMessage
from tests.support.aimock import aimock, journal
from tests.support.api_talk import MODELS, Talk, open_talk, settings_of
from tests.support.model_history import PIXEL
from tests.support.relay import Relay, relaying
from tests.support.vendor import body_faults

APIS: tuple[ApiKind, ...] = ("anthropic", "openai-responses", "openai-chat", "gemini")
KEY = "sk-matrix-0123456789"
STORY = " ".join(f"Then came the {number}th sheep over the fence." for number in range(40))
PICTURE = Image("image/png", PIXEL)
OVERFLOWS = {
    "anthropic": ("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "openai-responses": (
        "invalid_request_error",
        "Your input exceeds the context window of this model. Please adjust your input.",
    ),
    "openai-chat": (
        "invalid_request_error",
        "This model's maximum context length is 128000 tokens. However, you requested 130000.",
    ),
    "gemini": (
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
}
"""Each vendor's own words."""


def _bash(command: str) -> dict[str, Any]:
    return {"name": "bash", "arguments": {"command": command}}


def _says(match: dict[str, Any], text: str, **more: Any) -> dict[str, Any]:
    return {"match": match, "response": {"content": text}, **more}


def _calls(match: dict[str, Any], *commands: str) -> dict[str, Any]:
    calls = [_bash(command) for command in commands]
    return {"match": match, "response": {"toolCalls": calls, "reasoning": "It needs a command."}}


def _fails(match: dict[str, Any], status: int, kind: str, *, words: str) -> dict[str, Any]:
    error = {"message": words, "type": kind}
    return {"match": match, "response": {"error": error, "status": status, "retryAfter": 0}}


def _script(api: ApiKind) -> list[dict[str, Any]]:
    """Return what the mock says as one API's model; the first that matches is said."""

    def of(said: str, **more: Any) -> dict[str, Any]:
        return {"model": MODELS[api], "userMessage": said, **more}

    kind, words = OVERFLOWS[api]
    limited = "rate_limit_error" if api != "gemini" else "RESOURCE_EXHAUSTED"
    return [
        _says(of("Write the compact-summary"), "There were long texts about nothing."),
        _says(of("something long"), "I read it."),
        _says(of("tell a story"), STORY),
        _calls(of("run one", hasToolResult=False), "echo hi"),
        _says(of("run one", toolResultContains="hi"), "It printed hi."),
        _calls(of("run two", hasToolResult=False), "echo hi", "ls"),
        _says(of("run two", toolResultContains="notes.txt"), "Both ran."),
        _says(of("go slowly"), STORY, latency=100, chunkSize=40),
        _says(of("and now"), "Still here."),
        _fails(of("too much", sequenceIndex=0), 400, kind, words=words),
        _says(of("too much"), "Now it fits."),
        _fails(of("too fast", sequenceIndex=0), 429, limited, words="slow down"),
        _says(of("too fast"), "Slowly, then."),
        _says(of("break off", sequenceIndex=0), STORY, truncateAfterChunks=5),
        _says(of("break off"), "Whole this time."),
        _calls(of("first switch", hasToolResult=False), "echo hi"),
        _says(of("first switch"), "Here it printed hi."),
        _calls(of("second switch", hasToolResult=False), "echo hi", "ls"),
        _says(of("second switch"), "There both ran."),
        _calls(of("third switch", hasToolResult=False), "ls"),
        _says(of("third switch"), "Home again."),
    ]


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    script = tmp_path_factory.mktemp("aimock") / "script.json"
    script.write_text(json.dumps({"fixtures": [row for api in APIS for row in _script(api)]}))
    with aimock(KEY, fixtures=script) as address:
        yield address


@dataclass
class Peers:
    """The mock behind a relay; every request is held against the vendor's documents."""

    relay: Relay
    folder: Path

    def talk(self, api: ApiKind, **more: ProviderSettings) -> AbstractAsyncContextManager[Talk]:
        """Begin a session with one API's model; all others can be switched to, and ``more``."""
        known: dict[str, ProviderSettings] = {
            other: settings_of(other, self.relay.address) for other in APIS
        }
        return open_talk(self.folder, name_of(api), known | more, key=Secret(KEY))

    def bodies(self, api: ApiKind) -> list[dict[str, Any]]:
        """Return what one API was asked."""
        return [asked.body for asked in self.relay.asked if api_of(asked.path) == api]


@pytest.fixture
def peers(mock: str, tmp_path: Path) -> Iterator[Peers]:
    with relaying(mock) as relay:
        yield Peers(relay, tmp_path)
    assert relay.asked
    wrong = [body_faults(api_of(asked.path), asked.body) for asked in relay.asked]
    assert wrong == [[]] * len(wrong)


def name_of(api: ApiKind) -> str:
    return f"{api}/{MODELS[api]}"


def api_of(path: str) -> str:
    """Return the API that a path belongs to."""
    ends = {"messages": "anthropic", "completions": "openai-chat", "responses": "openai-responses"}
    return ends.get(path.partition("?")[0].rpartition("/")[2], "gemini")


def told(talk: Talk) -> str:
    """Return the text that observers saw."""
    return "".join(piece.text for piece in talk.of(MessageDelta) if piece.kind == "text")


@pytest.mark.parametrize("api", APIS)
def test_stream(api: ApiKind, peers: Peers) -> None:
    """An answer comes in pieces, and whole."""

    async def scene() -> None:
        async with peers.talk(api) as talk:
            ended = await talk.say("tell a story", PICTURE)
            assert (ended.status, ended.answer, told(talk)) == ("done", STORY, STORY)
            assert len(talk.of(MessageDelta)) > 5

    anyio.run(scene)
    assert PIXEL in json.dumps(peers.bodies(api))


@pytest.mark.parametrize("api", APIS)
def test_tools(api: ApiKind, peers: Peers) -> None:
    """A call is run, and the mock finds its result."""

    async def scene() -> None:
        async with peers.talk(api) as talk:
            assert (await talk.say("run one")).answer == "It printed hi."
            (ended,) = talk.of(ToolEnd)
            assert ended.output.strip() == "hi"

    anyio.run(scene)
    assert len(peers.bodies(api)) == 2


@pytest.mark.parametrize("api", APIS)
def test_parallel_calls(api: ApiKind, peers: Peers) -> None:
    """Two calls of one answer are one turn, and both results follow it in their order."""

    async def scene() -> None:
        async with peers.talk(api) as talk:
            assert (await talk.say("run two")).answer == "Both ran."
            said, results = talk.store.messages()[1:3]
            assert isinstance(said, AssistantMessage)
            assert isinstance(results, ToolMessage)
            assert [call.id for call in said.tool_calls] == [r.call for r in results.results]
            assert [r.output.strip() for r in results.results] == ["hi", "notes.txt"]

    anyio.run(scene)


@pytest.mark.parametrize("api", APIS)
def test_cancel(api: ApiKind, peers: Peers) -> None:
    """Whoever breaks an answer off hangs up; what was said stays, and the session goes on."""

    async def scene() -> None:
        async with peers.talk(api) as talk:
            heard = anyio.Event()
            talk.watch = lambda event: heard.set() if isinstance(event, MessageDelta) else None
            async with anyio.create_task_group() as group:
                group.start_soon(talk.say, "go slowly")
                with anyio.fail_after(30):
                    await heard.wait()
                group.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(peers.relay.hung_up.wait, 30)
            half = talk.store.messages()[-1]
            assert isinstance(half, AssistantMessage)
            assert half.stop_reason == "aborted"
            assert half.text
            assert STORY.startswith(half.text)
            assert half.text != STORY
            assert (await talk.say("and now?")).answer == "Still here."

    anyio.run(scene)
    assert len(peers.bodies(api)) == 2


@pytest.mark.parametrize("api", APIS)
def test_overflow(api: ApiKind, peers: Peers) -> None:
    """A conversation that is too long is summarised and sent once more; it is no reason to wait."""

    async def scene() -> None:
        async with peers.talk(api) as talk:
            for _ in range(3):
                await talk.say("something long: " + "word " * 10_000)
            assert (await talk.say("too much")).answer == "Now it fits."
            assert len(talk.of(CompactionEnd)) == 1
            assert talk.of(Retry) == []

    anyio.run(scene)
    *_, refused, summary, last = map(json.dumps, peers.bodies(api))
    assert len(last) < len(refused) * 3 / 4
    assert "Write the compact-summary" in summary
    assert "There were long texts about nothing." in last


@pytest.mark.parametrize("api", APIS)
def test_429_then_success(api: ApiKind, peers: Peers) -> None:
    """A rate limit is waited for as long as it asks, and the same is sent again."""

    async def scene() -> None:
        async with peers.talk(api) as talk:
            assert (await talk.say("too fast")).answer == "Slowly, then."
            (retry,) = talk.of(Retry)
            assert retry.delay_ms == 0
            assert "rate_limit" in retry.reason

    anyio.run(scene)
    first, second = peers.bodies(api)
    assert first == second


@pytest.mark.parametrize("api", APIS)
def test_cut_stream(api: ApiKind, peers: Peers) -> None:
    """A stream without its end is no answer: nothing of it stays, and it is asked for again."""

    async def scene() -> None:
        async with peers.talk(api) as talk:
            assert (await talk.say("break off")).answer == "Whole this time."
            (retry,) = talk.of(Retry)
            assert "network" in retry.reason
            (only,) = [m for m in talk.store.messages() if isinstance(m, AssistantMessage)]
            assert only.text == "Whole this time."

    anyio.run(scene)
    first, second = peers.bodies(api)
    assert first == second


@pytest.mark.parametrize(("here", "there"), list(permutations(APIS, 2)), ids=lambda api: api)
def test_switch(here: ApiKind, there: ApiKind, mock: str, peers: Peers) -> None:
    """The mock reads in another API's form all that was said and done before, there and back."""

    async def scene() -> list[str]:
        async with peers.talk(here) as talk:
            answers = [(await talk.say("first switch")).answer]
            await talk.use(name_of(there))
            answers.append((await talk.say("second switch")).answer)
            await talk.use(name_of(here))
            return [*answers, (await talk.say("third switch")).answer]

    before = len(journal(mock, KEY))
    assert anyio.run(scene) == ["Here it printed hi.", "There both ran.", "Home again."]
    messages = _read_by_mock(mock, before + len(peers.relay.asked))[-1]["body"]["messages"]
    results = [message for message in messages if message["role"] == "tool"]
    assert len(results) == 4
    for result, output in zip(results, ("hi", "hi", "notes.txt", "notes.txt"), strict=True):
        assert output in result["content"]
    called = [call["id"] for m in messages for call in m.get("tool_calls") or ()]
    assert called == [result["tool_call_id"] for result in results]


@pytest.mark.parametrize("api", APIS)
def test_switch_to_a_smaller_window(api: ApiKind, peers: Peers) -> None:
    """What the other model no longer holds is summarised before it is asked, not refused."""
    window = 20_000
    small = settings_of(api, peers.relay.address, window=window)

    async def scene() -> None:
        async with peers.talk(APIS[APIS.index(api) - 1], small=small) as talk:
            for _ in range(3):
                await talk.say("something long: " + "word " * 10_000)
            await talk.use(f"small/{MODELS[api]}")
            assert (await talk.say("and now?")).answer == "Still here."
            assert [end.reason for end in talk.of(CompactionEnd)] == ["threshold"]
            assert talk.of(Retry) == []

    anyio.run(scene)
    assert all(len(json.dumps(body)) < window * 4 for body in peers.bodies(api))
    assert "There were long texts about nothing." in json.dumps(peers.bodies(api)[-1])


def _read_by_mock(mock: str, count: int) -> list[dict[str, Any]]:
    """Return the mock's journal once it has so many entries: some it writes after its answer."""
    deadline = time.monotonic() + 30
    while len(found := journal(mock, KEY)) < count and time.monotonic() < deadline:
        time.sleep(0.02)
    return found
