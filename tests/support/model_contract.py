"""What every model must do, whoever plays it: one conversation with a tool call in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from orchestrator.config.providers import ApiKind
from orchestrator.credentials.secret import Secret
from orchestrator.model.catalog import Target
from orchestrator.model.client import Delta, ModelClient, ModelInfo, Prompt
from orchestrator.model.sdk import open_adapter
from orchestrator.schema.message import (
    AssistantMessage,
    Message,
    Text,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
)

BASH = ToolDefinition(
    "bash",
    "Run a command.",
    {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
        "additionalProperties": False,
    },
)
KEY = Secret("sk-contract-0123456789")


def target_of(api: ApiKind, address: str, **more: Any) -> Target:
    """Return a target at a server's address (without ``/v1``)."""
    base = f"{address}/v1" if api.startswith("openai") else address
    info = more.pop("info", ModelInfo("contract", "mock-model", 100_000, 4_096))
    return Target(info=info, api=api, base_url=base, key="contract", key_required=True, **more)


@asynccontextmanager
async def adapter(
    api: ApiKind, address: str, key: Secret | None = KEY, **more: Any
) -> AsyncIterator[ModelClient]:
    """Open the adapter of an API at a server's address."""
    async with open_adapter(target_of(api, address, **more), key) as client:
        yield client


def asking(text: str) -> tuple[Message, ...]:
    """Return a conversation of one question."""
    return (UserMessage((Text(text),)),)


async def ask(
    client: ModelClient, messages: tuple[Message, ...], **more: Any
) -> tuple[AssistantMessage, list[Delta]]:
    """Complete a prompt; return the message and the pieces that streamed before it."""
    pieces: list[Delta] = []
    prompt = Prompt("You run commands.", messages, (BASH,), **more)
    return await client.complete(prompt, on_delta=pieces.append), pieces


async def check_conversation(
    client: ModelClient, *, command: str = "echo hi", output: str = "hi"
) -> str:
    """Ask for a command, answer its call, and return the final text; asserts what must hold."""
    messages = asking(f"Run the command: {command}")
    first, _ = await ask(client, messages)
    assert first.stop_reason == "tool_use"
    assert first.model == client.info.id
    (call,) = first.tool_calls
    assert call.id
    assert call.name == "bash"
    assert call.arguments == {"command": command}

    result = ToolMessage((ToolResult(call.id, call.name, output),))
    second, pieces = await ask(client, (*messages, first, result))
    assert second.stop_reason == "end_turn"
    assert second.tool_calls == ()
    assert second.text
    assert "".join(piece.text for piece in pieces if piece.kind == "text") == second.text
    return second.text
