"""Costs."""

import pytest

from orchestrator.egress.endpoint.price import FREE, Price
from orchestrator.schema.message import Usage
from orchestrator.schema.prices import PriceTier, Rates

USAGE = Usage(1_000_000, 1_000_000, 1_000_000, 1_000_000)


def test_cost_is_per_million_tokens():
    """Each kind by its own price."""
    assert Price(1, 2, 3, 4).cost(USAGE) == pytest.approx(10)


def test_cache_without_a_price_costs_as_input_does():
    """Rather too much than too little."""
    assert Price(1, 2).cost(USAGE) == pytest.approx(5)


def test_without_a_price_there_is_no_cost():
    """A guess would be a lie."""
    assert Price(1).cost(USAGE) is None
    assert Price().at_most(5, 5) is None
    assert not Price(1).known
    assert FREE.known
    assert FREE.cost(USAGE) == 0


def test_prompt_beyond_the_window_costs_twice():
    """The table's prices hold up to there; rather too much than too little."""
    price = Price(1, 2, window=1_500_000)

    assert price.cost(Usage(1_000_000, 0, 500_000)) == pytest.approx(1.5)
    assert price.cost(Usage(1_000_000, 0, 500_001)) == pytest.approx(3.0)


def test_cache_that_is_kept_for_an_hour_costs_twice_the_input():
    """Beside what writing to it costs anyway."""
    assert Price(1, 2, 0.1, 1.25).kept_longer(1_000_000) == pytest.approx(0.75)
    assert Price().kept_longer(5) == 0


def test_most_that_a_call_may_cost_counts_the_dearer_input():
    """Writing to a cache costs more than plain input."""
    assert Price(1, 2, 0.1, 1.25).at_most(1_000_000, 1_000_000) == pytest.approx(3.25)


def test_known_tier_is_reckoned_with_instead_of_twice():
    """Where the vendor's own prices for long prompts are known, they hold."""
    price = Price(1, 2, window=10, tiers=(PriceTier(1_000_000, Rates(5, 10)),))

    assert price.cost(Usage(1_000_000)) == pytest.approx(1)
    assert price.cost(Usage(2_000_000)) == pytest.approx(10)
    assert price.at_most(2_000_000, 0) == pytest.approx(10)
    assert price.kept_longer(1_000_000, prompt=1_000_001) == pytest.approx(5)
