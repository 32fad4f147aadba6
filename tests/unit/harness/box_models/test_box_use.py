"""What the box used, in the loop's words."""

from orchestrator.egress.endpoint.budget import BoxSpent
from orchestrator.harness.box_models.box_use import BoxUse
from orchestrator.loop.progress import Beside
from orchestrator.schema.message import Usage


def test_nothing_is_used_before_there_is_an_endpoint():
    """A session without one has no cost of the box."""
    assert BoxUse().beside() == Beside()


def test_what_the_account_says_is_told():
    """A cost that is not known in part is known at least so far."""
    use = BoxUse(lambda: BoxSpent(Usage(5, 6), None, 0.5, 2))

    assert use.beside() == Beside(Usage(5, 6), None, 0.5)
