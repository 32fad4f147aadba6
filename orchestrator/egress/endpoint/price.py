"""What a model's tokens cost."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.schema.message import Usage

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

    @property
    def known(self) -> bool:
        """Whether a cost can be told."""
        return self.input is not None and self.output is not None

    def cost(self, usage: Usage) -> float | None:
        """Return the dollars of a call; None where the price is not known."""
        if self.input is None or self.output is None:
            return None
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        total = usage.input * self.input + usage.output * self.output
        total += usage.cache_read * read + usage.cache_write * write
        prompt = usage.input + usage.cache_read + usage.cache_write
        dearer = _DEARER if self.window is not None and prompt > self.window else 1
        return total * dearer / 1e6

    def kept_longer(self, tokens: int) -> float:
        """Return the dollars to add for tokens that were written to a cache for an hour."""
        if self.input is None:
            return 0.0
        write = self.input if self.cache_write is None else self.cache_write
        return tokens * max(_HOUR * self.input - write, 0.0) / 1e6

    def at_most(self, prompt: int, output: int) -> float | None:
        """Return the dollars that so many tokens cost where none come from a cache."""
        written = self.cost(Usage(output=output, cache_write=prompt))
        plain = self.cost(Usage(output=output, input=prompt))
        return None if written is None or plain is None else max(written, plain)


FREE = Price(0.0, 0.0, 0.0, 0.0)
"""Of a server that needs no key: nobody is billed."""
