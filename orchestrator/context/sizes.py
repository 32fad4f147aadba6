"""How many tokens a message has, about. Pure.

What a provider reported is always better; ``view`` leans on that where it can.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from orchestrator.schema.message import (
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from orchestrator.schema.picture_tokens import PictureRule, picture_tokens
from orchestrator.schema.text_tokens import text_tokens

MARK_CHARACTERS_PER_TOKEN = 5
"""Of a thought that its provider sealed: four characters of English, sealed, are about five."""
FRAME_TOKENS = 4
"""What surrounds each message in any API."""


def result_tokens(result: ToolResult, rule: PictureRule = "unknown") -> int:
    """Return the tokens of one call's result; ``rule`` is the model's for pictures."""
    return text_tokens(result.output) + sum(picture_tokens(i, rule) for i in result.images)


def message_tokens(message: Message, rule: PictureRule = "unknown") -> int:
    """Return the tokens of one message."""
    if isinstance(message, ToolMessage):
        return FRAME_TOKENS + sum(result_tokens(result, rule) for result in message.results)
    if isinstance(message, UserMessage):
        return FRAME_TOKENS + sum(
            picture_tokens(part, rule) if isinstance(part, Image) else text_tokens(part.text)
            for part in message.content
        )
    return FRAME_TOKENS + sum(_said(part) for part in message.content)


def _said(part: Text | Thinking | ToolCall) -> int:
    mark = len(part.signature or "") // MARK_CHARACTERS_PER_TOKEN
    if isinstance(part, ToolCall):
        return text_tokens(part.name) + text_tokens(part.raw_arguments) + mark
    # A provider that hides a thought, or tells its gist, sends the whole of it in the mark.
    return max(text_tokens(part.text), mark)


class FixedTokens:
    """The tokens of a system prompt and tools; the same are not counted twice in a row."""

    def __init__(self) -> None:
        """Begin with none."""
        self._system: str | None = None
        self._tools: Sequence[ToolDefinition] = ()
        self._tokens = 0

    def of(self, system: str, tools: Sequence[ToolDefinition]) -> int:
        """Return what each request carries of these besides the conversation."""
        if system != self._system or tools != self._tools:
            self._system, self._tools = system, tools
            self._tokens = fixed_tokens(system, tools)
        return self._tokens


def fixed_tokens(system: str, tools: Sequence[ToolDefinition]) -> int:
    """Return the tokens of what each request carries besides the conversation."""
    return text_tokens(system) + sum(
        text_tokens(tool.name)
        + text_tokens(tool.description)
        + text_tokens(json.dumps(dict(tool.input_schema)))
        for tool in tools
    )
