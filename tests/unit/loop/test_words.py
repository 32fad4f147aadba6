"""What the loop itself tells the model."""

from orchestrator.loop.words import GO_ON, say, something_to_answer
from tests.support.loops import says


def test_model_that_spoke_last_is_told_to_go_on():
    """No request may end with the model's own words."""
    assert something_to_answer((says("done"),)) == say(GO_ON)


def test_paused_answer_goes_on_by_itself():
    assert something_to_answer((says("half", stop="pause"),)) == ()


def test_what_somebody_else_said_last_is_answered():
    assert something_to_answer(say("hello")) == ()
    assert something_to_answer(()) == ()
