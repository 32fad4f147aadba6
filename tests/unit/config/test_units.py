"""Durations and sizes."""

import pytest

from orchestrator.config.units import parse_duration, parse_size
from orchestrator.errors import ConfigError


@pytest.mark.parametrize(("text", "seconds"), [("30m", 1800), ("1.5h", 5400), ("250ms", 0.25)])
def test_a_duration_with_a_unit_is_seconds(text, seconds):
    """Units are always written."""
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(("text", "size"), [("4GiB", 2**32), ("1kB", 1000), ("2 MiB", 2**21)])
def test_a_size_with_a_unit_is_bytes(text, size):
    """Decimal and binary units differ."""
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["30", "m", "-5m", "4 gib", "", "1h30m"])
def test_anything_else_is_refused(text):
    """No unit is guessed."""
    with pytest.raises(ConfigError):
        parse_duration(text)
    with pytest.raises(ConfigError):
        parse_size(text)
