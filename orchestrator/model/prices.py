"""What a call of a known model cost, and what its prompt cache saved; pure."""

from __future__ import annotations

from orchestrator.model.client import ModelInfo
from orchestrator.schema.message import Usage
from orchestrator.schema.prices import Rates, prompt_tokens, rates_at


def rates_of(info: ModelInfo, prompt: int = 0) -> Rates:
    """Return what a model asks for where the prompt has so many tokens."""
    plain = Rates(
        info.input_price, info.output_price, info.cache_read_price, info.cache_write_price
    )
    return rates_at(prompt, plain, info.tiers)


def cost_of(usage: Usage, info: ModelInfo) -> float | None:
    """Return US dollars for one call; None where a needed price is not known."""
    return rates_of(info, prompt_tokens(usage)).cost(usage)


def saved_of(usage: Usage, info: ModelInfo) -> float | None:
    """Return what the prompt cache saved in US dollars, less what writing to it cost extra.

    Below zero where more was written than read; None where a needed price is not known.
    """
    rates = rates_of(info, prompt_tokens(usage))
    without = Usage(input=prompt_tokens(usage), output=usage.output)
    whole, paid = rates.cost(without), rates.cost(usage)
    return None if whole is None or paid is None else whole - paid
