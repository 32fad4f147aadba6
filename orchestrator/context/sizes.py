"""How many tokens a message has, about: four characters make one. Pure.

What a provider reported is always better; ``view`` leans on that where it can.
"""

from __future__ import annotations

import json

from orchestrator.context.speech import Speech
from orchestrator.schema.message import (
    Image,
    Message,
    Text,
    Thinking,
    ToolMessage,
    ToolResult,
    UserMessage,
)

CHARACTERS_PER_TOKEN = 4
IMAGE_TOKENS = 1_200
FRAME_TOKENS = 4
"""What surrounds each message in any API."""


def text_tokens(characters: int) -> int:
    """Return the tokens of a text of so many characters, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def result_tokens(result: ToolResult) -> int:
    """Return the tokens of one call's result."""
    return text_tokens(len(result.output)) + IMAGE_TOKENS * len(result.images)


def message_tokens(message: Message) -> int:
    """Return the tokens of one message."""
    if isinstance(message, ToolMessage):
        return FRAME_TOKENS + sum(result_tokens(result) for result in message.results)
    if isinstance(message, UserMessage):
        images = sum(isinstance(part, Image) for part in message.content)
        texts = sum(len(part.text) for part in message.content if isinstance(part, Text))
        return FRAME_TOKENS + text_tokens(texts) + IMAGE_TOKENS * images
    return FRAME_TOKENS + text_tokens(sum(_said(part) for part in message.content))


def _said(part: object) -> int:
    if isinstance(part, Text):
        return len(part.text)
    if isinstance(part, Thinking):
        return len(part.text)
    return len(getattr(part, "name", "")) + len(getattr(part, "raw_arguments", ""))


def speech_tokens(speech: Speech) -> int:
    """Return the tokens of what each request carries besides the conversation."""
    tools = sum(
        len(tool.name) + len(tool.description) + len(json.dumps(dict(tool.input_schema)))
        for tool in speech.tools
    )
    return text_tokens(len(speech.system) + tools)
