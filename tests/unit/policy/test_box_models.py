"""What programs in the box may ask models for."""

from orchestrator.policy.box_models import BoxModels


def test_nothing_is_allowed_where_the_box_may_not_ask():
    """The switch holds over every list; no list is a no."""
    assert not BoxModels(in_box="deny", allow=(("*",),)).allows("a/b")
    assert not BoxModels(in_box="allow", allow=()).allows("a/b")
    assert BoxModels(in_box="allow", allow=(("*",),)).allows("a/b")


def test_first_glob_that_fits_names_the_stand_in():
    """Order is the writer's."""
    rules = BoxModels(map=(("claude-haiku-*", "a/b"), ("*", "c/d")))

    assert rules.stand_in("claude-haiku-4") == "a/b"
    assert rules.stand_in("gpt") == "c/d"
    assert BoxModels().stand_in("gpt") is None


def test_what_is_limited_is_told():
    """A day's limit counts over sessions; a limit in money needs prices."""
    assert BoxModels(cost_usd=1.0).limits_cost
    assert BoxModels(cost_usd_per_day=1.0).limits_cost
    assert BoxModels(cost_usd_per_day=1.0).limits_days
    assert BoxModels(tokens_per_day=1).limits_days
    assert not BoxModels(tokens=1).limits_days
    assert not BoxModels(tokens=1).limits_cost
