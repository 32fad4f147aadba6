"""When a conversation is compacted, and how much of it stays."""

from __future__ import annotations

from dataclasses import dataclass

LEAST_ANSWER = 1_024
"""Tokens that must be left for an answer; a request that leaves less is never sent."""


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """Tokens; both are bounded by what a small window can spare."""

    reserve: int = 16_384
    """Kept free for the next answer and for what estimates miss; at most a quarter of the window."""
    keep: int = 20_000
    """Of the newest messages, told word for word after a compaction."""

    def trigger(self, window: int) -> int:
        """Return from how many tokens on a conversation is compacted: 111,616 of 128,000."""
        return window - min(self.reserve, window // 4)

    def limit(self, window: int) -> int:
        """Return the most that is ever sent."""
        return window - min(LEAST_ANSWER, window // 8)

    def kept(self, window: int, fixed: int = 0) -> int:
        """Return how much stays; at most a third of what the trigger lets be.

        ``fixed`` is what system prompt and tools take of that: where they are long, what stays must
        not fill the rest, or every turn would compact.
        """
        return max(min(self.keep, (self.trigger(window) - fixed) // 3), 0)
