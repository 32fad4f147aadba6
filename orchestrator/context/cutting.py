"""Where a conversation is cut: what is before it is summarised, what follows is kept. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.context.sizes import message_tokens
from orchestrator.schema.message import ToolMessage, UserMessage
from orchestrator.schema.picture_tokens import PictureRule
from orchestrator.sessions.projection import Seen


@dataclass(frozen=True, slots=True)
class Cut:
    """Two parts of what is told the model; no call is parted from its results."""

    before: tuple[Seen, ...]
    kept: tuple[Seen, ...]

    @property
    def splits_turn(self) -> bool:
        """Say whether the kept part begins inside what the person asked for last before it."""
        return bool(self.kept) and not isinstance(self.kept[0].message, UserMessage)


def find_cut(seen: Sequence[Seen], keep: int, rule: PictureRule = "unknown") -> Cut:
    """Return the cut that keeps about ``keep`` tokens, rather more than less; 0 keeps nothing.

    It lies before something the person said or before an answer, never before results. Where the
    last results alone are more than ``keep``, their answer is kept with them.
    """
    if keep <= 0:
        return Cut(tuple(seen), ())
    found, tokens = len(seen), 0
    for at in range(len(seen) - 1, -1, -1):
        tokens += message_tokens(seen[at].message, rule)
        found = at
        if tokens >= keep:
            break
    later = found
    while later < len(seen) and isinstance(seen[later].message, ToolMessage):
        later += 1
    if later == len(seen):
        # Nothing but results from there on: back to the answer that asked for them.
        while found > 0 and isinstance(seen[found].message, ToolMessage):
            found -= 1
        later = found
    return Cut(tuple(seen[:later]), tuple(seen[later:]))
