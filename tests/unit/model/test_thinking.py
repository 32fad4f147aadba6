import pytest

from orchestrator.model.thinking import BUDGETS, clamp
from orchestrator.schema.thinking import THINKING_LEVELS


@pytest.mark.parametrize(
    ("wanted", "can", "got"),
    [
        ("medium", ("off", "low", "medium", "high"), "medium"),
        ("minimal", ("off", "low", "high"), "low"),
        ("medium", ("low", "high"), "high"),
        ("off", ("low", "medium"), "low"),
        ("max", ("off", "low", "high"), "high"),
        ("xhigh", ("off", "high", "max"), "max"),
        ("max", ("off",), "off"),
        ("high", (), None),
        (None, ("low",), None),
    ],
)
def test_level_becomes_the_nearest_that_the_model_can(wanted, can, got):
    """Up first, then down; nothing is said where nothing is wanted or known."""
    assert clamp(wanted, can) == got


def test_every_level_has_its_budget_and_more_is_more():
    """Levels in order are budgets in order."""
    assert list(BUDGETS) == list(THINKING_LEVELS)
    assert sorted(set(BUDGETS.values())) == list(BUDGETS.values())
