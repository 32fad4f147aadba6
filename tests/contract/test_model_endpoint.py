"""The vendors' own clients in front of the endpoint, an independent mock behind it.

The mock takes one key alone, which no client has: whoever gets an answer got it through the host.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any

import anthropic
import anyio
import httpx
import openai
import pytest

from orchestrator.egress.endpoint.upstream import Upstream
from tests.support.aimock import aimock, journal
from tests.support.endpoints import KEY, PLACEHOLDER, Served, endpoint, provider

START_S = 30.0


@contextmanager
def beside(*upstreams: Upstream) -> Iterator[Served]:
    """Run an endpoint in a thread of its own, for clients that block."""
    ready, box = threading.Event(), {}

    async def serve() -> None:
        async with endpoint(*upstreams) as served:
            box["served"], box["end"] = served, anyio.Event()
            box["loop"] = anyio.lowlevel.current_token()
            ready.set()
            await box["end"].wait()

    thread = threading.Thread(target=anyio.run, args=(serve,))
    thread.start()
    assert ready.wait(START_S)
    try:
        yield box["served"]
    finally:
        anyio.from_thread.run_sync(box["end"].set, token=box["loop"])
        thread.join(START_S)


def statuses(served: Served, count: int) -> list[int | None]:
    """Return how so many calls ended; the record follows the answer's last byte."""
    deadline = time.monotonic() + START_S
    while len(served.desk.ended) < count and time.monotonic() < deadline:
        time.sleep(0.01)
    return [outcome.status for _, outcome in served.desk.ended]


def claude(address: str, **given: Any) -> AbstractContextManager[anthropic.Anthropic]:
    """Give the vendor's client; its connections are closed after it, no matter who holds it."""
    return closing(
        anthropic.Anthropic(
            **{"base_url": address, "api_key": PLACEHOLDER, "max_retries": 0} | given
        )
    )


def gpt(address: str, **given: Any) -> AbstractContextManager[openai.OpenAI]:
    """Give the other vendor's, in the same way."""
    url = f"{address}/v1"
    return closing(
        openai.OpenAI(**{"base_url": url, "api_key": PLACEHOLDER, "max_retries": 0} | given)
    )


@pytest.fixture(scope="module")
def mock() -> Iterator[str]:
    with aimock(KEY) as address:
        yield address


@pytest.fixture
def served(mock: str) -> Iterator[Served]:
    with beside(
        provider("anthropic", mock, "anthropic"),
        provider("openai", f"{mock}/v1", "openai-chat", "openai-responses"),
        provider("gemini", mock, "gemini"),
    ) as served:
        yield served


ASK = [{"role": "user", "content": "Run the command: echo hi"}]
TOOL = {"name": "bash", "description": "Run a command", "input_schema": {"type": "object"}}
FUNCTION = {"name": "bash", "parameters": {"type": "object"}}


def test_mock_takes_no_other_key(mock):
    """So that the tests below prove what they say."""
    with claude(mock) as client, pytest.raises(anthropic.AuthenticationError):
        client.messages.create(model="m", max_tokens=50, messages=ASK)


@pytest.mark.parametrize("base", ["", "/v1"])
def test_anthropic_client_streams_through_the_endpoint(served, base):
    """With its own key header, and with its beta resource."""
    with claude(served.address + base) as client:
        with client.messages.stream(model="m", max_tokens=50, messages=ASK, tools=[TOOL]) as stream:
            message = stream.get_final_message()
        again = client.beta.messages.create(model="m", max_tokens=50, messages=ASK, tools=[TOOL])

    assert [block.type for block in message.content][-1] == "tool_use"
    assert again.content
    assert statuses(served, 2) == [200, 200]
    assert all(outcome.usage is not None for _, outcome in served.desk.ended)


def test_bearer_token_works_as_well(served):
    """Some clients send the Anthropic key so."""
    with claude(served.address, auth_token=PLACEHOLDER, api_key=None) as client:
        answer = client.messages.create(model="m", max_tokens=50, messages=ASK, tools=[TOOL])

    assert answer.content


def test_openai_client_speaks_chat_and_responses(served):
    """Streamed and whole."""
    with gpt(served.address) as client:
        tool = {"type": "function", "function": FUNCTION}
        whole = client.chat.completions.create(model="m", messages=ASK, tools=[tool])
        chunks = list(
            client.chat.completions.create(
                model="m",
                messages=ASK,
                tools=[tool],
                stream=True,
                stream_options={"include_usage": True},
            )
        )
        events = list(
            client.responses.create(
                model="m", input=ASK, tools=[{"type": "function", **FUNCTION}], stream=True
            )
        )

    assert whole.choices[0].message.tool_calls
    assert chunks[-1].usage is not None
    assert events[-1].type == "response.completed"
    assert statuses(served, 3) == [200] * 3


def test_openai_client_that_keeps_its_conversation_itself_works_and_another_is_told(served):
    """Reasoning goes along sealed; an answer that the provider kept is no way to go on."""
    with gpt(served.address) as client:
        sealed = {"type": "reasoning", "id": "rs_1", "encrypted_content": "AAAA", "summary": []}
        own = client.responses.create(
            model="m", input=[*ASK, sealed], store=False, include=["reasoning.encrypted_content"]
        )
        with pytest.raises(openai.PermissionDeniedError, match="previous_response_id"):
            client.responses.create(model="m", input=ASK, previous_response_id=own.id)

    assert own.output
    assert statuses(served, 1) == [200]


def test_gemini_request_streams(served):
    """By the header that its clients use."""
    url = f"{served.address}/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    body = {"contents": [{"role": "user", "parts": [{"text": ASK[0]["content"]}]}]}
    answer = httpx.post(url, json=body, headers={"x-goog-api-key": PLACEHOLDER}, trust_env=False)

    assert answer.status_code == 200
    assert answer.text.startswith("data: ")


def test_wrong_key_is_the_clients_own_error(served):
    """In the class that each SDK has for it."""
    with (
        claude(served.address, api_key=KEY) as client,
        pytest.raises(anthropic.AuthenticationError, match="not this session's"),
    ):
        client.messages.create(model="m", max_tokens=50, messages=ASK)
    with (
        gpt(served.address, api_key=KEY) as client,
        pytest.raises(openai.AuthenticationError, match="not this session's"),
    ):
        client.models.list()


def test_mock_saw_the_hosts_key_alone(served, mock):
    """Nothing that the client sent as a key arrived."""
    with gpt(served.address) as client:
        client.chat.completions.create(model="m", messages=ASK)

    assert PLACEHOLDER not in str(journal(mock, KEY))
