import pytest

from orchestrator.schema.message import Usage
from orchestrator.schema.prices import PriceTier, Rates, prompt_tokens, rates_at

PLAIN = Rates(1, 10, 0.1, 1.25)
TIERS = (PriceTier(500, Rates(4, 40)), PriceTier(100, Rates(2, 20)))


@pytest.mark.parametrize(("tokens", "price"), [(0, 1), (100, 1), (101, 2), (500, 2), (501, 4)])
def test_highest_tier_that_is_passed_prices_the_whole(tokens, price):
    """The limit itself is still the lower tier's, in whatever order they stand."""
    assert rates_at(tokens, PLAIN, TIERS).input == price


def test_prompt_counts_what_came_from_a_cache():
    """Vendors measure the whole prompt."""
    assert prompt_tokens(Usage(1, 100, 10, 5)) == 16


def test_missing_price_of_what_was_used_is_no_cost():
    """A guess would be a lie."""
    assert Rates(1).cost(Usage(output=1)) is None
    assert Rates(1).cost(Usage(cache_read=1_000_000)) == pytest.approx(1)
    assert Rates().cost(Usage()) == 0
