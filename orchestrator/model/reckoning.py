"""Token counts that stand in where a server reports none, or such as cannot be.

Limits on tokens and money would hold nothing against a server that counts nothing. What a server
reports is taken at its word as long as the texts could have so many tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from orchestrator.errors import ModelError
from orchestrator.model.client import (
    Delta,
    ModelClient,
    ModelInfo,
    OnBroken,
    OnDelta,
    Prompt,
    uncounted,
)
from orchestrator.model.output_budget import answer_size, prompt_size
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from orchestrator.schema.prices import prompt_tokens
from orchestrator.schema.text_tokens import text_tokens

LEAST_SHARE = 4
"""A text has at least this part of the tokens that are reckoned for it, runs of one character aside."""
SLACK = 64
"""Tokens by which a short text may have fewer than that."""
SHORTEST_TOKEN = 4
"""Tokens that a character makes at most: one for each of its bytes."""
MOST_UNSEEN = 100_000
"""Tokens that a server may add to a prompt by itself: its own instructions, frames, tools."""
MOST_OF_IMAGE = 100_000
MOST_THOUGHT = 1_000_000
"""Tokens of thought that an answer may have beside what is shown of it."""
_RUN = re.compile(r"(.)\1{3,}", re.DOTALL)
"""Blanks, dashes and their like: some tokens are a hundred of them."""


class Reckoned:
    """A model whose every answer has a usage that can be, also one that broke off."""

    def __init__(self, client: ModelClient, on_broken: OnBroken = uncounted) -> None:
        """Stand before an adapter."""
        self.client = client
        self._on_broken = on_broken

    @property
    def info(self) -> ModelInfo:
        """Return what is known of the model."""
        return self.client.info

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:
        """Return the whole message, its usage reckoned where the server's cannot be.

        An answer that broke off is billed as far as it came, and nobody says how far that was.
        """
        heard: list[str] = []

        def hear(delta: Delta) -> None:
            heard.append(delta.text)
            on_delta(delta)

        try:
            message = await self.client.complete(prompt, on_delta=hear)
        except ModelError:
            if heard:
                await self._on_broken(self.info, broken_off(prompt, heard, self.info))
            raise
        return replace(message, usage=credible(prompt, message, self.info))


def broken_off(prompt: Prompt, said: Iterable[str], info: ModelInfo) -> Usage:
    """Return about what was used up to where an answer broke off; ``said`` is all that came of it."""
    text = "".join(said)
    return credible(prompt, AssistantMessage((Text(text),), "aborted", model=info.id), info)


def credible(prompt: Prompt, message: AssistantMessage, info: ModelInfo) -> Usage:
    """Return the reported usage; where prompt or answer cannot have so many, a reckoned one.

    What is reckoned is all fresh input: nobody knows what a cache had of it.
    """
    told = message.usage
    if not _may_be_prompt(prompt_tokens(told), prompt):
        guess = max(prompt_size(prompt, info.picture_rule), 1)
        told = Usage(guess, told.output, estimated=guess)
    if not _may_be_answer(told.output, message):
        guess = answer_size(message)
        told = replace(told, output=guess, estimated=told.estimated + guess)
    return told


def _may_be_prompt(tokens: int, prompt: Prompt) -> bool:
    texts, images = [prompt.system], 0
    for message in prompt.messages:
        more, pictures = _sent(message)
        texts += more
        images += pictures
    tools = sum(len(str(tool.input_schema)) + len(tool.description) for tool in prompt.tools)
    marks = sum(
        len(part.signature or "") + len(getattr(part, "text", ""))
        for message in prompt.messages
        if isinstance(message, AssistantMessage)
        for part in message.content
    )
    characters = sum(map(len, texts)) + tools + marks
    most = SHORTEST_TOKEN * characters + MOST_OF_IMAGE * images + MOST_UNSEEN
    return 1 <= tokens <= most and _reaches(tokens, texts)


def _may_be_answer(tokens: int, message: AssistantMessage) -> bool:
    if not message.content or message.stop_reason == "refusal":
        # Nothing was said, or a filter put its own words in the place of what was.
        return tokens <= MOST_THOUGHT
    texts, _ = _sent(message)
    most = SHORTEST_TOKEN * sum(map(len, texts)) + MOST_THOUGHT
    return 1 <= tokens <= most and _reaches(tokens, texts)


def _reaches(tokens: int, texts: list[str]) -> bool:
    """Say whether so few tokens can hold the texts."""
    least = (tokens + SLACK) * LEAST_SHARE
    if sum(map(text_tokens, texts)) <= least:
        return True
    return sum(text_tokens(_RUN.sub(r"\1", text)) for text in texts) <= least


def _sent(message: Message) -> tuple[list[str], int]:
    """Return a message's texts without thoughts, which not all send or count, and its pictures."""
    if isinstance(message, ToolMessage):
        images = sum(len(result.images) for result in message.results)
        return [result.output for result in message.results], images
    if isinstance(message, UserMessage):
        texts = [part.text for part in message.content if isinstance(part, Text)]
        return texts, sum(isinstance(part, Image) for part in message.content)
    said = []
    for part in message.content:
        if isinstance(part, Text):
            said.append(part.text)
        elif isinstance(part, ToolCall):
            said += [part.name, part.raw_arguments]
    return said, 0
