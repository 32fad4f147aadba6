import pytest

from orchestrator.model.counts import count


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, 5),
        (12.0, 12),
        (0, 0),
        (-3, 0),
        (1.5, 0),
        (float("nan"), 0),
        (float("inf"), 0),
        (True, 0),
        ("5", 0),
        (None, 0),
        ([7], 0),
        ({"n": 7}, 0),
    ],
)
def test_count_is_a_whole_number_or_nothing(value: object, expected: int) -> None:
    """Whatever a server writes, no sum of tokens shrinks by it or fails on it."""
    assert count({"n": value}, "n") == expected
    assert type(count({"n": value}, "n")) is int
    assert count({}, "n") == 0
