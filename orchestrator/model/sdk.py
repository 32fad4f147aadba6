"""The official SDKs, opened so that a key goes to its base URL and to nothing else.

The SDKs read the environment by themselves (other keys, an organisation, extra headers) and follow
redirects; all of that could carry a secret to another address. So redirects are off, key and
address are always explicit, and every header leaves through one list. Retries are ours alone.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from types import ModuleType
from typing import Any

import httpx2

from orchestrator.credentials.secret import Secret
from orchestrator.model.anthropic_messages import AnthropicMessages
from orchestrator.model.catalog import Target, is_loopback
from orchestrator.model.client import ModelClient, OnBroken, uncounted
from orchestrator.model.gemini_failure import GeminiTranslator
from orchestrator.model.gemini_key import count_models
from orchestrator.model.gemini_messages import GeminiMessages
from orchestrator.model.gemini_responses import note_response
from orchestrator.model.key_answer import listed
from orchestrator.model.no_stream import stream_check
from orchestrator.model.openai_chat import OpenAIChat
from orchestrator.model.openai_responses import OpenAIResponses
from orchestrator.model.reckoning import Reckoned
from orchestrator.model.sdk_failure import Translator

CONNECT_S = 10.0
WRITE_S = 60.0
NO_KEY = "none"
"""The SDKs insist on a key; the header is taken off again where there is none."""

_OWN_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "openai-beta",
        "transfer-encoding",
        "user-agent",
        "x-goog-api-client",
    }
)
_OWN_PREFIXES = ("x-stainless-", "anthropic-")
_KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")


def header_filter(target: Target, key: Secret | None) -> Callable[[Any], Awaitable[None]]:
    """Return a hook that drops every header which is neither the SDK's own nor configured."""
    configured = {name.lower() for name in target.headers}
    allowed = _OWN_HEADERS | configured | (set(_KEY_HEADERS) if key else set())
    if target.key == "openai":
        allowed |= {"openai-organization", "openai-project"}

    async def keep_known(request: Any) -> None:
        for name in list(request.headers):
            lower = name.lower()
            if lower not in allowed and not lower.startswith(_OWN_PREFIXES):
                del request.headers[name]
        for name, value in target.headers.items():
            request.headers[name] = value

    return keep_known


@asynccontextmanager
async def open_sdk(target: Target, key: Secret | None) -> AsyncIterator[tuple[ModuleType, Any]]:
    """Give the SDK's module and an open client of it for a target."""
    module, make = _anthropic() if target.api == "anthropic" else _openai()
    http = module.DefaultAsyncHttpxClient(
        follow_redirects=False,
        event_hooks={
            "request": [header_filter(target, key)],
            "response": [stream_check(target, key)],
        },
        **_loopback_options(target),
    )
    timeout = module.Timeout(
        target.idle_timeout_s, connect=CONNECT_S, write=WRITE_S, pool=CONNECT_S
    )
    client = make(
        api_key=key.reveal() if key else NO_KEY,
        base_url=target.base_url,
        max_retries=0,
        timeout=timeout,
        http_client=http,
    )
    async with client:
        yield module, client


def _loopback_options(target: Target) -> dict[str, Any]:
    """On loopback no proxy is asked, and no connection is kept: small servers drop those unasked."""
    if not is_loopback(target.base_url):
        return {}
    return {"trust_env": False, "limits": httpx2.Limits(max_keepalive_connections=0)}


@asynccontextmanager
async def open_gemini(target: Target, key: Secret | None) -> AsyncIterator[tuple[ModuleType, Any]]:
    """Give the SDK's module of exceptions and the asynchronous part of an open client of it."""
    from google import genai  # noqa: PLC0415 - a third of a second that only its users pay
    from google.genai import errors  # noqa: PLC0415 - the same
    from google.genai.client import DebugConfig  # noqa: PLC0415 - the same
    from google.genai.types import HttpOptions  # noqa: PLC0415 - the same

    # It tells of keys in the environment that are not the one in use, and of its own habits.
    logging.getLogger("google_genai").setLevel(logging.ERROR)
    # A word of the API that is newer than the SDK is told by the fold, not on the terminal.
    warnings.filterwarnings("ignore", r".* is not a valid ", module=r"google\.genai")
    timeout = httpx2.Timeout(
        target.idle_timeout_s, connect=CONNECT_S, write=WRITE_S, pool=CONNECT_S
    )
    keep_known = header_filter(target, key)

    async def prepare(request: Any) -> None:
        await keep_known(request)
        # The SDK knows one limit for all, and would have none where none is told.
        request.extensions["timeout"] = timeout.as_dict()

    http = httpx2.AsyncClient(
        follow_redirects=False,
        event_hooks={"request": [prepare], "response": [note_response, stream_check(target, key)]},
        **_loopback_options(target),
    )
    async with http:
        client = genai.Client(
            # All that it would else look for in the environment is told.
            vertexai=False,
            api_key=key.reveal() if key else NO_KEY,
            debug_config=DebugConfig(client_mode="", replays_directory="", replay_id=""),
            http_options=HttpOptions(
                base_url=target.base_url.removesuffix("/v1beta"),
                api_version="v1beta",
                httpx_async_client=http,
            ),
        )
        with closing(client):
            yield errors, client.aio


def _anthropic() -> tuple[ModuleType, Callable[..., Any]]:
    import anthropic  # noqa: PLC0415 - half a second that only its users pay

    return anthropic, anthropic.AsyncAnthropic


def _openai() -> tuple[ModuleType, Callable[..., Any]]:
    import openai  # noqa: PLC0415 - the same

    return openai, openai.AsyncOpenAI


@asynccontextmanager
async def open_adapter(
    target: Target, key: Secret | None, *, on_broken: OnBroken = uncounted
) -> AsyncIterator[ModelClient]:
    """Open the adapter that speaks the target's API; its answers have a usage that can be."""
    async with _speaking(target, key) as client:
        yield Reckoned(client, on_broken)


@asynccontextmanager
async def _speaking(target: Target, key: Secret | None) -> AsyncIterator[ModelClient]:
    if target.api == "gemini":
        async with open_gemini(target, key) as (errors, client):
            yield GeminiMessages(client, target, GeminiTranslator(errors, target.info.id, key))
        return
    async with open_sdk(target, key) as (module, client):
        failures = Translator(module, target.info.id, key)
        if target.api == "anthropic":
            yield AnthropicMessages(client, target, failures)
        elif target.api == "openai-chat":
            yield OpenAIChat(client, target, failures)
        else:
            yield OpenAIResponses(client, target, failures)


async def check_key(target: Target, key: Secret | None) -> int:
    """Make the cheapest request that needs the key; return how many models it may use."""
    if target.api == "gemini":
        return await count_models(target, key)
    async with open_sdk(target, key) as (module, client):
        with Translator(module, target.info.provider, key).translating():
            answer = await client.models.with_raw_response.list()
            text = answer.http_response.text
    return listed(target.info.provider, text, field="data", key=key)
