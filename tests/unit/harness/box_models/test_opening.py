"""An endpoint put together from policy, settings and keys."""

import json

import anyio
import httpx2
import pytest

from orchestrator.config.paths import Paths
from orchestrator.config.providers import ProviderSettings
from orchestrator.credentials.secret import Secret
from orchestrator.egress.memory import stream_pair
from orchestrator.harness.box_models.opening import BoxModelParts, open_box_models
from orchestrator.harness.box_models.providers import ProviderFacts
from orchestrator.policy.box_models import BoxModels
from orchestrator.schema.event import ModelCallInBox
from orchestrator.schema.message import Usage
from tests.support.endpoints import KEY
from tests.support.model_server import Reply, serving

ANSWER = {"type": "message", "content": [], "usage": {"input_tokens": 3, "output_tokens": 2}}
RULES = BoxModels(in_box="allow", allow=(("anthropic/*",),), tokens_per_day=1000)


class Chain:
    def __init__(self):
        self.records = []

    def append_soon(self, kind, body):
        return self.append(kind, body)

    def append(self, kind, body):
        self.records.append((kind, dict(body)))
        return len(self.records)


def parts(tmp_path, address, keys, told):
    settings = {"anthropic": ProviderSettings(base_url=address)}
    return BoxModelParts(
        terms=lambda: RULES,
        providers=ProviderFacts(settings, {}, keys.get, told["notes"].append),
        audit=told["chain"],
        scrub=dict,
        learn=told["learned"].update,
        observe=told["events"].append,
        paths=Paths(tmp_path / "state", tmp_path / "config"),
    )


def told():
    return {"notes": [], "learned": {}, "events": [], "chain": Chain()}


def test_session_has_its_own_placeholder_and_its_keys_are_kept_out_of_texts(tmp_path):
    """A program with the variables is answered; records, events and totals follow."""
    heard = told()

    async def run(address):
        keys = {"anthropic": Secret(KEY)}
        async with open_box_models(parts(tmp_path, address, keys, heard)) as models:
            variables = models.environment
            here, there = stream_pair()
            body = json.dumps({"model": "claude-x", "max_tokens": 9, "messages": []}).encode()
            head = (
                f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: "
                f"{variables['ANTHROPIC_API_KEY']}\r\nConnection: close\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            await there.send(head.encode() + body)
            await models.endpoint.serve(here, None)
            got = b""
            while data := await there.receive():
                got += data
            return got, variables, models.spent()

    with serving(Reply(body=ANSWER)) as server:
        got, variables, spent = anyio.run(run, server.address)

    assert got.startswith(b"HTTP/1.1 200")
    assert variables["ANTHROPIC_API_KEY"].startswith("gbx_")
    assert KEY not in str(variables)
    assert heard["learned"] == {"key-anthropic": KEY}
    assert [kind for kind, _ in heard["chain"].records] == [
        "model_call_in_box",
        "model_call_in_box_end",
    ]
    assert isinstance(heard["events"][0], ModelCallInBox)
    assert spent.usage == Usage(3, 2)
    assert json.loads((tmp_path / "state" / "model-use.json").read_text())["tokens"] == 5
    assert server.asked[0].headers["x-api-key"] == KEY
    assert httpx2.URL(variables["ANTHROPIC_BASE_URL"]).host == "127.0.0.1"


def test_without_any_provider_the_person_is_told(tmp_path):
    """Nothing is offered, and the session goes on."""
    heard = told()

    async def run():
        async with open_box_models(parts(tmp_path, "http://127.0.0.1:1", {}, heard)) as models:
            return models.environment

    assert anyio.run(run) == {}
    assert "no provider that policy allows has a key" in heard["notes"][-1]


def test_last_count_of_refusals_is_in_the_records_when_the_endpoint_is_down(tmp_path):
    """However the session ends."""
    heard = told()
    asked = b"GET /v1/models HTTP/1.1\r\nHost: x\r\nx-api-key: other\r\n\r\n"

    async def run():
        async with open_box_models(parts(tmp_path, "http://127.0.0.1:1", {}, heard)) as models:
            here, there = stream_pair()
            await there.send(asked * 37, last=True)
            await models.endpoint.serve(here, None)
            raise TimeoutError

    with pytest.raises(TimeoutError):
        anyio.run(run)

    counts = [body["count"] for _, body in heard["chain"].records]
    assert counts == [1, 2, 3, 10, 37]
