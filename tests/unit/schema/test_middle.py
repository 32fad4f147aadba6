import pytest

from orchestrator.schema.middle import without_middle

GAP = "[{count} of {all}]"


@pytest.mark.parametrize(
    ("most", "told"),
    [
        (4, "ab\n[6 of 10]\nij"),
        (5, "ab\n[6 of 10]\nij"),
        (1, "\n[10 of 10]\n"),
        (0, "\n[10 of 10]\n"),
    ],
)
def test_head_and_tail_stay_and_the_rest_is_counted(most: int, told: str) -> None:
    """Also where nothing of either may stay."""
    assert without_middle("abcdefghij", most, GAP, all=10) == told


def test_braces_of_the_text_are_no_places() -> None:
    """Only the line is a format."""
    assert without_middle("{x}{count}{y}", 6, "{count}") == "{x}\n7\n{y}"
