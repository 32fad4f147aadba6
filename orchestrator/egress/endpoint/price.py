"""What a model's tokens cost."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.schema.message import Usage
from orchestrator.schema.prices import PER_MILLION, PriceTier, Rates, prompt_tokens, rates_at

_DEARER = 2
"""Vendors that ask more for long prompts ask at most so many times as much."""
_HOUR = 2
"""A cache of an hour costs so many times as much as plain input."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens; None: not known. A cache's price stands back for input's."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    max_output: int = 8_192
    """Tokens of an answer that asks for no limit."""
    window: int | None = None
    """Tokens of a prompt for which these prices hold; a longer one may cost twice as much."""
    tiers: tuple[PriceTier, ...] = ()
    """What longer prompts cost, where it is known; ``window`` then says nothing."""

    @property
    def known(self) -> bool:
        """Whether a cost can be told."""
        return self.input is not None and self.output is not None

    def cost(self, usage: Usage) -> float | None:
        """Return the dollars of a call; None where the price is not known."""
        if self.input is None or self.output is None:
            return None
        prompt = prompt_tokens(usage)
        total = self._rates(prompt).cost(usage)
        dear = not self.tiers and self.window is not None and prompt > self.window
        return total * _DEARER if dear and total is not None else total

    def _rates(self, prompt: int) -> Rates:
        plain = Rates(self.input, self.output, self.cache_read, self.cache_write)
        return rates_at(prompt, plain, self.tiers)

    def kept_longer(self, tokens: int, prompt: int = 0) -> float:
        """Return the dollars to add for tokens that were written to a cache for an hour.

        ``prompt`` counts the whole prompt that they are of.
        """
        rates = self._rates(max(tokens, prompt))
        if rates.input is None:
            return 0.0
        write = rates.input if rates.cache_write is None else rates.cache_write
        return tokens * max(_HOUR * rates.input - write, 0.0) / PER_MILLION

    def at_most(self, prompt: int, output: int) -> float | None:
        """Return the dollars that so many tokens cost where none come from a cache."""
        written = self.cost(Usage(output=output, cache_write=prompt))
        plain = self.cost(Usage(output=output, input=prompt))
        return None if written is None or plain is None else max(written, plain)


FREE = Price(0.0, 0.0, 0.0, 0.0)
"""Of a server that needs no key: nobody is billed."""
