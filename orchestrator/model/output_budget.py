"""How many tokens a model may answer with, so that prompt and answer fit its window together."""

from __future__ import annotations

import json

from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from orchestrator.schema.picture_tokens import PictureRule, picture_tokens
from orchestrator.schema.text_tokens import text_tokens

MARGIN = 3
"""A third more than reckoned, so that the estimate is seldom too small."""
LEAST = 1_024
"""An answer shorter than this is of no use; the provider then says that the prompt is too long."""


def output_budget(prompt: Prompt, info: ModelInfo) -> int:
    """Return the ``max_tokens`` to ask for."""
    room = info.context_window - estimate(prompt, info.picture_rule)
    return max(min(info.max_output, room), min(LEAST, info.max_output))


def estimate(prompt: Prompt, rule: PictureRule = "unknown") -> int:
    """Return roughly how many tokens a prompt has, rather too many than too few."""
    texts, pictures = _parts(prompt, rule)
    return texts + texts // MARGIN + pictures


def prompt_size(prompt: Prompt, rule: PictureRule = "unknown") -> int:
    """Return about how many tokens a prompt has."""
    return sum(_parts(prompt, rule))


def _parts(prompt: Prompt, rule: PictureRule) -> tuple[int, int]:
    tools = sum(
        text_tokens(tool.name)
        + text_tokens(tool.description)
        + text_tokens(json.dumps(dict(tool.input_schema)))
        for tool in prompt.tools
    )
    texts, pictures = text_tokens(prompt.system) + tools, 0
    for message in prompt.messages:
        more, shown = _size(message, rule)
        texts, pictures = texts + more, pictures + shown
    return texts, pictures


def _size(message: Message, rule: PictureRule) -> tuple[int, int]:
    """Return the tokens of a message's texts and of its pictures."""
    if isinstance(message, ToolMessage):
        return (
            sum(text_tokens(result.output) for result in message.results),
            sum(picture_tokens(i, rule) for result in message.results for i in result.images),
        )
    if isinstance(message, UserMessage):
        return (
            sum(text_tokens(part.text) for part in message.content if isinstance(part, Text)),
            sum(picture_tokens(i, rule) for i in message.content if isinstance(i, Image)),
        )
    return answer_size(message), 0


def answer_size(message: AssistantMessage) -> int:
    """Return about how many tokens an answer has, thoughts and their marks too."""
    return sum(
        len(part.signature or "") // 3
        + (
            text_tokens(part.name) + text_tokens(part.raw_arguments)
            if isinstance(part, ToolCall)
            else text_tokens(part.text)
        )
        for part in message.content
    )
