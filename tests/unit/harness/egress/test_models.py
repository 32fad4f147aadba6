"""Models for the box beside its way out: a scripted box, real settings, a server on loopback."""

import anyio
import pytest
import yaml

from orchestrator.config.providers import ProviderSettings
from orchestrator.config.settings import EgressSettings
from orchestrator.harness.egress.models import session_models
from orchestrator.harness.egress.way import lets_out, opens_way, way_facts
from orchestrator.policy.box_models import BoxModels
from orchestrator.schema.message import Usage
from orchestrator.schema.way_out import Incoming
from tests.support.model_server import Reply, serving
from tests.support.upstream import upstream
from tests.unit.harness.egress.test_way import WEB, way

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


LOCAL = ProviderSettings(api="openai-chat", base_url="http://127.0.0.1:1/v1", key_required=False)
MODELS = {"in_box": "allow", "allow": ["own/*"], "box": {"tokens": 1000}}


async def ask_model(opened, key=None):
    """Play a program that asks a model with the key that it was told."""
    told = opened.box.way_out.way
    body = b'{"model": "m", "max_tokens": 5, "messages": []}'
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        f"Authorization: Bearer {key or told.environment['OPENAI_API_KEY']}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    end = await opened.box.way_out.connect(Incoming("model"))
    await end.send(head.encode() + body)
    answer = b""
    while piece := await end.receive():
        answer += piece
    await end.close()
    return answer


async def test_program_in_the_box_asks_a_model_where_policy_lets_it(tmp_path):
    """Though no network rule lets anything out; what it used is told to the run."""
    reply = Reply(body={"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
    with serving(reply) as server:
        own = LOCAL.model_copy(update={"base_url": f"{server.address}/v1"})
        async with (
            upstream() as far,
            way(
                tmp_path, {"default": "deny"}, far.net, models=MODELS, providers={"own": own}
            ) as opened,
        ):
            policy = opened.parts.governed.policy
            answer = await ask_model(opened)
            refused = await ask_model(opened, "sk-of-somebody")
            told = opened.box.way_out.way

    assert answer.startswith(b"HTTP/1.1 200")
    assert refused.startswith(b"HTTP/1.1 401")
    assert told.model_port == 8085
    assert told.environment["OPENAI_BASE_URL"] == "http://127.0.0.1:8085/v1"
    assert opened.parts.use.beside().usage == Usage(3, 2)
    assert [body["effect"] for body in opened.bodies("model_call_in_box")] == ["allow", "deny"]
    assert opened.bodies("model_call_in_box_end")[0]["status"] == 200
    assert opens_way(policy)
    assert not lets_out(policy)
    assert way_facts(policy, EgressSettings()) == {
        "way_out": "none",
        "models_in_box": "allowed ones, by the host's key",
    }


async def test_box_that_may_ask_no_model_has_no_port_for_it(tmp_path):
    """A connection that comes all the same is let go of."""
    async with (
        upstream("docs.acme.example") as far,
        way(tmp_path, {"default": "deny", "rules": [WEB]}, far.net) as opened,
    ):
        told = opened.box.way_out.way
        end = await opened.box.way_out.connect(Incoming("model"))
        with pytest.raises(OSError, match="connection"):
            await end.receive()

    assert told.model_port is None
    assert "OPENAI_API_KEY" not in told.environment


async def test_models_are_taken_over_while_the_session_runs(tmp_path):
    """A policy that takes the models away holds for the next call."""
    async with (
        upstream() as far,
        way(
            tmp_path, {"default": "deny"}, far.net, models=MODELS, providers={"own": LOCAL}
        ) as opened,
    ):
        before = await ask_model(opened)
        (tmp_path / "policy.yaml").write_text(
            yaml.safe_dump({"version": 1, "name": "p", "models": {**MODELS, "in_box": "deny"}})
        )
        after = b""
        with anyio.fail_after(20):
            # The files are looked at by time.
            while b" 403 " not in after[:20]:
                after = await ask_model(opened)

    assert before.startswith(b"HTTP/1.1 502")
    assert b"models.in_box" in after


async def test_nothing_is_opened_where_no_model_may_be_asked(tmp_path):
    """No key is looked for either."""
    async with (
        upstream("docs.acme.example") as far,
        way(tmp_path, {"default": "deny", "rules": [WEB]}, far.net) as opened,
        session_models(opened.parts, BoxModels) as models,
    ):
        assert models is None
        assert opened.parts.use.spent is None
