"""Taking pictures out of what the model is told, for a provider that refused them as too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.model.projection import count_pictures, without_pictures
from orchestrator.schema.ids import EntryId
from orchestrator.schema.message import Message
from orchestrator.sessions.projection import Seen

REFUSED = "[a picture, taken out: the provider refused the request as too large]"


@dataclass(frozen=True, slots=True)
class Lightened:
    """A message that is told without ``count`` of its pictures."""

    entry: EntryId
    message: Message
    count: int


def lighten(seen: Sequence[Seen]) -> list[Lightened]:
    """Return the messages to tell anew: without all pictures but the newest, or without that one.

    Each time fewer pictures are left, so asking again after every refusal comes to an end.
    """
    left = sum(count_pictures(item.message) for item in seen)
    spared = 1 if left > 1 else 0
    found: list[Lightened] = []
    for item in seen:
        here = count_pictures(item.message)
        drop = min(here, left - spared)
        left -= here
        if drop > 0:
            message = without_pictures(item.message, drop, REFUSED)
            found.append(Lightened(item.entry.id, message, drop))
    return found
