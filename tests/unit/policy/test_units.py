"""Durations and sizes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.policy.units import parse_duration, parse_size, show_duration, show_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("10m", 600), ("2h", 7200), ("1h30m", 5400), ("500ms", 0.5), ("1.5h", 5400)],
)
def test_duration_with_units_is_read_in_seconds(text, seconds):
    """Every unit and their sums are understood."""
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["30", 30, "", "h", "-1h", "1 h", "0s", "400d", "1w", None, "1h "])
def test_duration_without_a_clear_unit_is_refused(text):
    """A bare number could be minutes to one reader and seconds to another."""
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GiB", 4 * 2**30), ("512 MiB", 2**29), ("10kB", 10_000), ("1.5MB", 1_500_000)],
)
def test_size_with_units_is_read_in_bytes(text, size):
    """Binary and decimal units are kept apart."""
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["4G", "4", 4, "", "0B", "GiB", "-1GiB", "99999TiB", None])
def test_size_without_a_clear_unit_is_refused(text):
    """``4G`` is 4 * 10**9 to one reader and 4 * 2**30 to another."""
    with pytest.raises(ValueError, match="size"):
        parse_size(text)


@given(st.integers(min_value=1, max_value=2**50))
def test_shown_size_reads_back_as_itself(size):
    """What is shown is exact."""
    assert parse_size(show_size(size)) == size


@given(st.integers(min_value=1, max_value=366 * 86_400_000))
def test_shown_duration_reads_back_close_to_itself(milliseconds):
    """What is shown is what holds."""
    seconds = milliseconds / 1000

    assert parse_duration(show_duration(seconds)) == pytest.approx(seconds, rel=1e-4)
