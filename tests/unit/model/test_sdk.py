from typing import Any

import anyio
import pytest

from orchestrator.config.providers import ApiKind
from orchestrator.errors import ModelError
from orchestrator.model.anthropic_messages import AnthropicMessages
from orchestrator.model.gemini_messages import GeminiMessages
from orchestrator.model.openai_chat import OpenAIChat
from orchestrator.model.openai_responses import OpenAIResponses
from orchestrator.model.reckoning import Reckoned
from orchestrator.model.sdk import check_key, open_adapter
from tests.support.company_proxy import company_proxy_server
from tests.support.model_contract import KEY, target_of
from tests.support.model_server import Reply, serving


@pytest.mark.parametrize(
    ("api", "kind"),
    [
        ("anthropic", AnthropicMessages),
        ("openai-chat", OpenAIChat),
        ("openai-responses", OpenAIResponses),
        ("gemini", GeminiMessages),
    ],
)
def test_adapter_fits_the_api(api: ApiKind, kind: type) -> None:
    """A target's API decides who speaks to it."""

    async def scene() -> None:
        target = target_of(api, "http://127.0.0.1:1")
        async with open_adapter(target, KEY) as client:
            assert isinstance(client, Reckoned)
            assert isinstance(client.client, kind)
            assert client.info is target.info

    anyio.run(scene)


@pytest.mark.parametrize("api", ["anthropic", "openai-chat"])
def test_key_is_tried_with_one_get(api: ApiKind) -> None:
    """Trying a key costs nothing."""
    models = {"data": [{"id": "m", "type": "model", "object": "model"}] * 3, "has_more": False}
    with serving(Reply(body=models)) as server:
        assert anyio.run(check_key, target_of(api, server.address), KEY) == 3
        (asked,) = server.asked
    assert asked.method == "GET"
    assert asked.path.startswith("/v1/models")


@pytest.mark.parametrize("api", ["anthropic", "openai-chat", "openai-responses"])
@pytest.mark.parametrize("body", [{"ok": True}, b"<html>hello</html>", {"data": "x"}, [1], b""])
def test_answer_of_another_kind_says_nothing_of_the_key(api: ApiKind, body: Any) -> None:
    """Any web server answers 200; what it said is told."""
    with serving(Reply(body=body)) as server, pytest.raises(ModelError) as caught:
        anyio.run(check_key, target_of(api, server.address), KEY)
    assert "expected a list of models" in caught.value.message
    assert "whether the key works is not known" in caught.value.hint


def test_wrong_key_is_told() -> None:
    """A key that is refused is an auth failure."""
    refused = Reply(401, {}, {"error": {"type": "authentication_error", "message": "no"}})
    with serving(refused) as server, pytest.raises(ModelError) as caught:
        anyio.run(check_key, target_of("anthropic", server.address), KEY)
    assert caught.value.kind == "auth"


@pytest.mark.parametrize("api", ["anthropic", "openai-chat"])
def test_proxy_of_the_environment_is_asked(api: ApiKind, monkeypatch: pytest.MonkeyPatch) -> None:
    """A company's proxy gets a CONNECT, and no key; loopback needs none."""

    async def scene() -> list[str]:
        async with company_proxy_server({}) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
            monkeypatch.delenv("NO_PROXY", raising=False)
            monkeypatch.delenv("no_proxy", raising=False)
            with pytest.raises(ModelError):
                await check_key(target_of(api, "https://llm.acme.example"), KEY)
            return proxy.asked

    asked = anyio.run(scene)
    assert asked
    assert all("CONNECT llm.acme.example:443" in one for one in asked)
    assert KEY.reveal() not in "".join(asked)
