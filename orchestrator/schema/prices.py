"""What tokens cost, and that a long prompt may cost more; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.schema.message import Usage

PER_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars per million tokens; None: not known. A cache's price stands back for input's."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None

    def cost(self, usage: Usage) -> float | None:
        """Return the dollars of a call; None where a needed price is not known."""
        pairs = (
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.input if self.cache_read is None else self.cache_read),
            (usage.cache_write, self.input if self.cache_write is None else self.cache_write),
        )
        total = 0.0
        for count, price in pairs:
            if count and price is None:
                return None
            total += count * (price or 0.0)
        return total / PER_MILLION


@dataclass(frozen=True, slots=True)
class PriceTier:
    """The rates of a whole request whose prompt is longer than so many tokens."""

    above: int
    rates: Rates


def prompt_tokens(usage: Usage) -> int:
    """Return the tokens of the prompt, those of a cache too."""
    return usage.input + usage.cache_read + usage.cache_write


def rates_at(tokens: int, rates: Rates, tiers: Sequence[PriceTier]) -> Rates:
    """Return the rates of a prompt of so many tokens: those of the highest tier it passes."""
    passed = [tier for tier in tiers if tokens > tier.above]
    return max(passed, key=lambda tier: tier.above).rates if passed else rates
