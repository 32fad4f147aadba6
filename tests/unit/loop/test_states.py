"""The states of a run, as the documents draw them."""

import re
from pathlib import Path

import pytest

from orchestrator.loop.states import TRANSITIONS, Course

PAGE = (Path(__file__).parents[3] / "docs" / "loop.md").read_text("utf-8")


def test_page_draws_the_same_ways():
    """A reader of the page and a reader of the code see one machine."""
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE)
    drawn = {state: frozenset(re.findall(r"`(\w+)`", ways)) for state, ways in rows}

    assert drawn == TRANSITIONS


def test_way_that_there_is_not_is_refused():
    course = Course()
    course.to("check")

    with pytest.raises(RuntimeError, match="from check to act"):
        course.to("act")


def test_every_state_leads_to_the_end():
    """A run can be aborted anywhere."""
    assert all("end" in ways for state, ways in TRANSITIONS.items() if state != "end")
    assert TRANSITIONS["end"] == frozenset()


def test_ways_taken_are_remembered():
    course = Course()
    course.to("tell")
    course.to("end")

    assert course.ways == {("start", "tell"), ("tell", "end")}
