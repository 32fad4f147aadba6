"""Conversations over HTTP that drive the box: each API, an independent mock and a real model."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace

import anyio
import anyio.from_thread
import pytest
import yaml

from orchestrator.model.local import INFO, LocalServer, serve_local
from tests.support.aimock import aimock, journal
from tests.support.model_bodies import faults
from tests.support.model_server import REPLIES, Reply, serving

pytestmark = pytest.mark.docker

APIS = ("anthropic", "openai-chat", "openai-responses", "gemini")
LOCAL = APIS[:3]
"""What the real local server speaks."""
KEY = "sk-e2e-0123456789abcdef"
COMMAND = "echo from-$((40+2))-the-box"


def configure(world, api: str, address: str, model: str = "mock-model") -> str:
    """Name a server in the user's configuration; return the model's name there."""
    base = f"{address}/v1" if api.startswith("openai") else address
    sizes = {"context_window": 8_192, "max_output": 512, "input_price": 0, "output_price": 0}
    settings = {"api": api, "base_url": base, "models": {model: sizes}}
    folder = world.root / "config"
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump({"providers": {"corp": settings}}))
    return f"corp/{model}"


def outputs(ended) -> list[str]:
    """Return what each tool call gave the model."""
    return [event["output"].strip() for event in ended.of("tool_end")]


@pytest.mark.parametrize("api", APIS)
def test_scripted_server_drives_the_box(world, api):
    """A call over HTTP runs in the box, its output goes back, and every body is valid."""
    reply = REPLIES[api]
    call = reply(text="Let me see.", calls=(("call_1", "bash", f'{{"command": "{COMMAND}"}}'),))
    with serving(call, Reply(529, {"retry-after": "0"}, {}), reply(text="all done")) as server:
        model = configure(world, api, server.address)
        ended = world.run("run", "go", "-m", model, "--json", env={"CORP_API_KEY": KEY})
        bodies = [asked.body for asked in server.asked]
    assert ended.code == 0, ended.err
    assert outputs(ended) == ["from-42-the-box"]
    assert ended.of("session_end")[0]["answer"] == "all done"
    assert len(ended.of("retry")) == 1
    # Gemini's SDK writes its bodies itself; what it is given is held in tests/contract.
    assert api == "gemini" or [faults(api, body) for body in bodies] == [[], [], []]
    assert "from-42-the-box" in str(bodies[-1])
    assert KEY not in ended.out + ended.err


@pytest.mark.parametrize(
    ("api", "asked_for"),
    [
        ("anthropic", {"output_config": {"effort": "high"}}),
        ("openai-responses", {"reasoning": {"effort": "high", "summary": "auto"}}),
        ("gemini", {"thinking_level": "HIGH"}),
    ],
)
def test_level_of_thinking_reaches_the_provider_and_long_prompts_cost_more(world, api, asked_for):
    """What a person sets of a model holds for the whole run, and its bill."""
    with serving(REPLIES[api](text="done")) as server:
        model = configure(world, api, server.address)
        file = world.root / "config" / "config.yaml"
        settings = yaml.safe_load(file.read_text())
        settings["providers"]["corp"]["models"]["mock-model"] |= {
            "input_price": 1,
            "output_price": 0,
            "thinking": ["low", "high"],
            "price_tiers": [{"above": 10, "input_price": 1_000_000, "output_price": 0}],
        }
        file.write_text(yaml.safe_dump(settings))
        ended = world.run(
            "run", "go", "-m", model, "--thinking", "medium", "--json",
            "--max-budget-usd", "1000", env={"CORP_API_KEY": KEY},
        )  # fmt: skip
        (asked,) = server.asked
    assert ended.code == 0, ended.err
    body = asked.body.get("generationConfig", {}).get("thinkingConfig") or asked.body
    assert asked_for.items() <= body.items()
    usage = ended.of("session_end")[0]["usage"]
    prompt = usage["input"] + usage["cache_read"] + usage["cache_write"]
    assert prompt > 10
    assert ended.of("session_end")[0]["cost_usd"] == pytest.approx(prompt)


@pytest.mark.parametrize("api", APIS)
def test_answers_that_break_off_count_though_another_takes_their_place(world, api):
    """What came of them is void, and billed: limits, session, audit and day have it."""
    whole = REPLIES[api](text="word " * 2_000)
    cut = replace(whole, events=whole.events[: -1 if api == "gemini" else -2], done=False, cut=True)
    with serving(cut, cut, REPLIES[api](text="done")) as server:
        model = configure(world, api, server.address)
        file = world.root / "config" / "config.yaml"
        settings = yaml.safe_load(file.read_text())
        settings["providers"]["corp"]["models"]["mock-model"] |= {"output_price": 100}
        file.write_text(yaml.safe_dump(settings))
        ended = world.run("run", "go", "-m", model, "--json", env={"CORP_API_KEY": KEY})
    told = json.loads(world.run("sessions", "stats", "--json").out)
    today = json.loads((world.state / "model-cost.json").read_text())

    assert ended.code == 0, ended.err
    assert len(ended.of("retry")) == 2
    (last,) = ended.of("session_end")
    assert last["usage"]["output"] > 2 * 1_000
    assert last["cost_usd"] > 2 * 1_000 * 100 / 1e6
    assert last["cost_usd"] == pytest.approx(today["cost_usd"])
    assert last["cost_usd"] == pytest.approx(told["total"]["cost_usd"])
    assert {name: each["calls"] for name, each in told["purposes"].items()} == {
        "broken": 2,
        "turns": 1,
    }


@pytest.fixture(scope="module")
def mock_address() -> Iterator[str]:
    with aimock(KEY) as address:
        yield address


@pytest.mark.parametrize("api", APIS)
def test_independent_mock_drives_the_box(world, api, mock_address):
    """A server that others wrote makes the call and reads its result."""
    model = configure(world, api, mock_address)
    ended = world.run("run", "go", "-m", model, "--json", env={"CORP_API_KEY": KEY})
    assert ended.code == 0, ended.err
    assert outputs(ended) == ["hi"]
    assert ended.of("session_end")[0]["answer"] == "The command printed hi."
    assert "".join(e["text"] for e in ended.of("message_delta")) == "The command printed hi."
    assert journal(mock_address, KEY)


def test_wrong_key_ends_with_six(world, mock_address):
    """A refused key is told at once, and not tried again."""
    model = configure(world, "openai-chat", mock_address)
    ended = world.run("run", "go", "-m", model, "--json", env={"CORP_API_KEY": "sk-wrong"})
    assert ended.code == 6
    assert ended.of("retry") == []
    assert "sk-wrong" not in ended.out + ended.err


@pytest.fixture(scope="module")
def real() -> Iterator[LocalServer]:
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_local(os.environ)) as server,
    ):
        yield server


@pytest.mark.model
@pytest.mark.parametrize("api", LOCAL)
def test_real_model_drives_the_box(world, api, real):
    """A real model asks for the command, and tells what the box printed."""
    model = configure(world, api, real.address, INFO.name)
    env = {"CORP_API_KEY": real.key.reveal()}
    prompt = "Run the command: echo blue whale"
    ended = world.run("run", prompt, "-m", model, "--json", env=env)
    assert ended.code == 0, ended.err
    assert outputs(ended) == ["blue whale"]
    assert "blue whale" in ended.of("session_end")[0]["answer"]
    assert ended.of("session_end")[0]["usage"]["output"] > 0


@pytest.mark.model
def test_embedded_model_needs_no_key(world):
    """``-m local`` starts its own server, and the run ends it."""
    ended = world.run("run", "Run the command: echo hello", "-m", "local", "--json")
    assert ended.code == 0, ended.err
    assert outputs(ended) == ["hello"]
    assert ended.of("session_start")[0]["model"] == "local/smollm2-135m"
