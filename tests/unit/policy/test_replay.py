"""Which decisions of the past another policy would make otherwise."""

from orchestrator.policy.load import load_policy
from orchestrator.policy.replay import RecordedCall, replay
from orchestrator.schema.request import ExecRequest
from tests.unit.policy.conftest import SHIPPED


def recorded(command, effect, *, answer=None, seq=3):
    return RecordedCall(
        "s1", seq, "bash", ExecRequest(command, "/workspace", 1.0), effect, "x", answer
    )


def flips(name, *calls):
    return list(replay(load_policy([name], search=SHIPPED, user_file=None), calls))


def test_same_policy_flips_nothing():
    """It decides as it did."""
    assert flips("default", recorded("ls", "allow"), recorded("git push", "ask", answer=True)) == []


def test_flip_tells_both_sides_and_which_way():
    """What was decided by what, and what would be now."""
    (flip,) = flips("strict", recorded("make", "allow", seq=9))
    data = flip.as_data()

    assert (data["was"], data["now"], data["now_by"]) == ("allow", "ask", "default")
    assert (data["seq"], data["direction"]) == (9, "tighter")
    (other,) = flips("default", recorded("make", "deny"))
    assert other.direction == "looser"


def test_call_ran_where_it_was_allowed_or_answered():
    """A no keeps it from running."""
    assert recorded("ls", "allow").ran
    assert recorded("ls", "ask", answer=True).ran
    assert not recorded("ls", "ask", answer=False).ran
    assert not recorded("ls", "deny").ran
