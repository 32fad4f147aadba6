"""An end is a list of steps, and none of them keeps the next from being taken."""

import pytest

from orchestrator.errors import AuditUnavailable, EngineUnavailable
from orchestrator.harness.closing import SWEEP, Closing


def test_step_that_fails_is_told_and_the_next_is_taken():
    """With what there is to do about it, safe to show."""
    told, taken = [], []
    closing = Closing.noting(told.append)

    with closing.step("box"):
        taken.append(1)
        raise EngineUnavailable("no answer \x1b[31m")
    with closing.step("changes", hint="look later"):
        taken.append(2)
        raise OSError(28, "No space left on device")
    with closing.step("rest"):
        taken.append(3)

    assert taken == [1, 2, 3]
    assert [(trouble.what, trouble.exit_code) for trouble in closing.troubles] == [
        ("box", 5),
        ("changes", 1),
    ]
    assert told[0] == f"box: not ended in order: no answer \\x1b[31m ({SWEEP})"
    assert "No space left" in told[1]
    assert "look later" in told[1]


def test_step_with_an_exit_code_of_its_own_keeps_it():
    """Who looks for the code of an end finds the failure's."""
    closing = Closing.noting(lambda _: None)

    closing.failed("chain", AuditUnavailable("disk full"))

    assert [trouble.exit_code for trouble in closing.troubles] == [7]


def test_bug_is_no_trouble_of_an_end():
    """It is not hidden among what may happen."""
    closing = Closing.noting(lambda _: None)

    with pytest.raises(ZeroDivisionError), closing.step("box"):
        raise ZeroDivisionError

    assert closing.troubles == []
