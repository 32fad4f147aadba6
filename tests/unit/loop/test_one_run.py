"""What is remembered from turn to turn."""

import pytest

from orchestrator.loop.circles import Circles
from orchestrator.loop.one_run import OneRun
from tests.support.corridor import call
from tests.support.loops import says


@pytest.mark.parametrize("said", [says("hi"), says(call("bash", 1, command="ls"))])
def test_only_answers_of_nothing_in_a_row_count(said):
    run = OneRun(Circles(3))

    counted = []
    for message in (says(), says(" \n"), said, says()):
        run.hear(message)
        counted.append(run.empties)

    assert counted == [1, 2, 0, 1]


def test_whole_answer_ends_a_row_of_cuts_and_pauses():
    run = OneRun(Circles(3), cuts=1, pauses=4)
    run.hear(says("hi"))

    assert (run.cuts, run.pauses) == (0, 0)
