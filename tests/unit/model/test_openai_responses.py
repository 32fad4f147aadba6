"""The adapter over HTTP, where it differs from the other APIs'."""

from typing import Any

import anyio
import pytest

from orchestrator.errors import ModelError
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.model.sdk import open_adapter
from tests.support.model_contract import KEY, asking, target_of
from tests.support.model_server import ModelServer, Reply, responses_reply, serving

INFO = ModelInfo("openai", "gpt-6-sol", 100_000, 4_096, thinking=("low", "high"))
UNVERIFIED = (
    "Your organization must be verified to generate reasoning summaries. "
    "Please go to the organization's settings and click on Verify."
)


def refusal(message: str, param: str = "reasoning.summary") -> Reply:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": None}
    return Reply(400, {}, {"error": error})


def ask(server: ModelServer, times: int = 1) -> list[dict[str, Any]]:
    """Ask with a level of thinking; return what each request said of it."""

    async def scene() -> None:
        async with open_adapter(target_of("openai-responses", server.address, info=INFO), KEY) as m:
            for _ in range(times):
                prompt = Prompt("", asking("hello"), thinking="low")
                await m.complete(prompt, on_delta=lambda _: None)

    anyio.run(scene)
    return [asked.body["reasoning"] for asked in server.asked]


def test_organisation_without_summaries_still_has_thoughts() -> None:
    """It is asked once without them, and never again with them."""
    with serving(refusal(UNVERIFIED), responses_reply(text="hi")) as server:
        said = ask(server, times=2)
    assert said == [{"effort": "low", "summary": "auto"}, {"effort": "low"}, {"effort": "low"}]


@pytest.mark.parametrize("message", ["Unsupported value: 'low'", "max_output_tokens: too many"])
def test_other_refusal_is_told_at_once(message: str) -> None:
    """Nothing else is tried a second time."""
    with serving(refusal(message, "x"), responses_reply(text="hi")) as server:
        with pytest.raises(ModelError) as caught:
            ask(server)
        assert len(server.asked) == 1
    assert caught.value.kind == "bad_request"
