import tomllib
from pathlib import Path

import pytest

import orchestrator.model.model_table as module
from orchestrator.config.providers import ModelSettings, PriceTierSettings
from orchestrator.model.model_table import info_of, row_of
from orchestrator.schema.thinking import THINKING_LEVELS

TABLE = tomllib.loads(Path(module.__file__).with_name("models.toml").read_text("utf-8"))
ROWS = [(table, name) for table in TABLE if table != "date" for name in TABLE[table]]
KEYS = {
    "window", "output", "prices", "tiers", "thinking", "by", "cache", "images", "pictures", "reasoning", "tier",
}  # fmt: skip


def info(table, name, *, hour=False, **settings):
    row = row_of(table, name)
    wanted = ModelSettings(**settings)
    more = {"window": 1_000, "output": 100, "tier": "prompt", "hour": hour}
    return info_of((table, name), row, wanted, **more)


@pytest.mark.parametrize(("table", "name"), ROWS)
def test_row_says_what_is_known_and_no_more(table, name):
    """A misspelt key or level would be a fact that is lost without a word."""
    row = TABLE[table][name]
    found = info(table, name)
    assert set(row) <= KEYS
    assert set(row.get("thinking", "").split()) <= set(THINKING_LEVELS)
    assert (found.input_price or 0) > 0
    assert (found.output_price or 0) > (found.input_price or 0)
    assert (found.cache_read_price or 0) <= (found.input_price or 0)
    for tier in found.tiers:
        assert (tier.rates.input or 0) > (found.input_price or 0)
        assert (tier.rates.output or 0) > (found.output_price or 0)


def test_settings_win_over_the_row():
    """What a person says of a model holds."""
    found = info(
        "anthropic", "claude-haiku-5-5",
        context_window=50, thinking=("high", "off"), images=False, tier="json", cache_read_price=9,
    )  # fmt: skip
    assert (found.context_window, found.max_output) == (50, 50)
    assert found.thinking == ("off", "high")
    assert (found.images, found.tier, found.cache_read_price) == (False, "json", 9)
    assert found.tiers


def test_own_prices_take_the_tables_tiers_along():
    """The table's prices for long prompts would contradict one's own."""
    assert info("anthropic", "claude-haiku-5-5", input_price=1).tiers == ()
    own = PriceTierSettings(above=10, input_price=2, output_price=3)
    (tier,) = info("anthropic", "claude-haiku-5-5", input_price=1, price_tiers=[own]).tiers
    assert (tier.above, tier.rates.input, tier.rates.cache_write) == (10, 2, None)


def test_hour_of_cache_is_priced_as_an_hour():
    """In every tier; what a person set stays."""
    found = info("anthropic", "claude-haiku-5-5", hour=True)
    assert found.cache_write_price == pytest.approx(0.2)
    assert found.tiers[0].rates.cache_write == pytest.approx(1.0)
    own = info("anthropic", "claude-haiku-5-5", hour=True, cache_write_price=7)
    assert own.cache_write_price == 7


def test_model_without_a_row_is_never_asked_to_think():
    """What is not known is not made up."""
    found = info("gemini", "gemini-99")
    assert (found.thinking, found.input_price, found.tiers) == ((), None, ())
    assert row_of(None, "claude-haiku-5-5") == {}
