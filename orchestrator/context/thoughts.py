"""Taking thoughts out of what a model is told, for a provider that does not take them back.

A signature holds for the key, the organisation and the server that gave it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from orchestrator.model.client import ModelInfo
from orchestrator.model.openai_responses_request import PHASE
from orchestrator.schema.ids import EntryId
from orchestrator.schema.message import AssistantMessage, Text, Thinking, ToolCall
from orchestrator.sessions.projection import Seen


@dataclass(frozen=True, slots=True)
class Forgotten:
    """An answer that is told without ``count`` thoughts and signatures."""

    entry: EntryId
    message: AssistantMessage
    count: int


def forget(seen: Iterable[Seen], info: ModelInfo) -> Iterator[Forgotten]:
    """Give the answers of a model to tell anew, with nothing that is signed; none of the others."""
    for item in seen:
        message = item.message
        if not isinstance(message, AssistantMessage) or message.model not in {"", info.id}:
            continue
        count = sum(map(_is_signed, message.content))
        if count:
            yield Forgotten(item.entry.id, _without(message), count)


def _is_signed(part: Text | Thinking | ToolCall) -> bool:
    # The phase of a text is told in the same place, but is no signature.
    return bool(part.signature) and not str(part.signature).startswith(PHASE)


def _without(message: AssistantMessage) -> AssistantMessage:
    """Return the answer unsigned: a thought goes as a whole, unless nothing else was said."""
    bare = [replace(part, signature=None) if _is_signed(part) else part for part in message.content]
    kept = [part for part in bare if not isinstance(part, Thinking)]
    return replace(message, content=tuple(kept or bare))
