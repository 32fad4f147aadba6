import pytest

from orchestrator.model.client import ModelInfo
from orchestrator.model.prices import cost_of, rates_of, saved_of
from orchestrator.schema.message import Usage
from orchestrator.schema.prices import PriceTier, Rates

INFO = ModelInfo(
    "p", "m", 1_000_000, 8_192, 1.0, 10.0, 0.1, 1.25,
    tiers=(PriceTier(100_000, Rates(2.0, 20.0, 0.2, 2.5)),),
)  # fmt: skip


def test_whole_request_costs_what_its_tier_does():
    """The first tokens too, and the answer."""
    assert cost_of(Usage(100_000, 1_000), INFO) == pytest.approx(0.11)
    assert cost_of(Usage(50_000, 1_000, 50_001), INFO) == pytest.approx(0.1 + 0.02 + 0.0100002)
    assert rates_of(INFO).input == 1.0


def test_saving_is_what_was_read_less_what_was_written():
    """A cache that is written and never read costs more than none."""
    assert saved_of(Usage(0, 0, 10_000, 0), INFO) == pytest.approx(0.009)
    assert saved_of(Usage(0, 0, 0, 10_000), INFO) == pytest.approx(-0.0025)
    assert saved_of(Usage(5, 5), INFO) == pytest.approx(0)


def test_saving_without_a_price_is_not_known():
    """No price, no saving."""
    assert saved_of(Usage(1, 1, 1), ModelInfo("p", "m", 1, 1)) is None
