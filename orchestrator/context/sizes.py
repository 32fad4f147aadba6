"""How many tokens a message has, about. Pure.

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
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from orchestrator.schema.text_tokens import text_tokens

IMAGE_TOKENS = 1_200
MARK_CHARACTERS_PER_TOKEN = 5
"""Of a thought that its provider sealed: four characters of English, sealed, are about five."""
FRAME_TOKENS = 4
"""What surrounds each message in any API."""


def result_tokens(result: ToolResult) -> int:
    """Return the tokens of one call's result."""
    return text_tokens(result.output) + IMAGE_TOKENS * len(result.images)


def message_tokens(message: Message) -> int:
    """Return the tokens of one message."""
    if isinstance(message, ToolMessage):
        return FRAME_TOKENS + sum(result_tokens(result) for result in message.results)
    if isinstance(message, UserMessage):
        images = sum(isinstance(part, Image) for part in message.content)
        texts = sum(text_tokens(part.text) for part in message.content if isinstance(part, Text))
        return FRAME_TOKENS + texts + IMAGE_TOKENS * images
    return FRAME_TOKENS + sum(_said(part) for part in message.content)


def _said(part: Text | Thinking | ToolCall) -> int:
    mark = len(part.signature or "") // MARK_CHARACTERS_PER_TOKEN
    if isinstance(part, ToolCall):
        return text_tokens(part.name) + text_tokens(part.raw_arguments) + mark
    # A provider that hides a thought, or tells its gist, sends the whole of it in the mark.
    return max(text_tokens(part.text), mark)


def speech_tokens(speech: Speech) -> int:
    """Return the tokens of what each request carries besides the conversation."""
    return text_tokens(speech.system) + sum(
        text_tokens(tool.name)
        + text_tokens(tool.description)
        + text_tokens(json.dumps(dict(tool.input_schema)))
        for tool in speech.tools
    )
