"""How long a yes holds."""

from datetime import timedelta

import pytest

from orchestrator.confirmation.scopes import end_of, in_order, offered, remembered
from tests.support.asking import ALL, START, question


def test_narrowest_comes_first_and_once_is_always_there():
    """Whatever order policy gives them in."""
    assert in_order(("project", "2h", "session", "30m")) == (
        "once",
        "session",
        "30m",
        "2h",
        "project",
    )
    assert in_order(()) == ("once",)


@pytest.mark.parametrize(
    "changes",
    [
        {"always": True},
        {"unyielding": True},
        {"session": ""},
        {"more": {"kept_for": "exactly these files"}},
    ],
)
def test_some_questions_are_for_once_alone(changes):
    """Asked each time anew, not readable, before a session, or kept elsewhere."""
    assert offered(question(**changes)) == ("once",)
    assert offered(question()) == ALL


def test_every_yes_ends():
    """None stands for good."""
    assert end_of("30m", START) - START == timedelta(minutes=30)
    assert end_of("session", START) - START == timedelta(days=7)
    assert end_of("project", START) - START == timedelta(days=90)
    with pytest.raises(ValueError, match="once"):
        end_of("once", START)


def test_each_scope_says_what_it_remembers():
    """In words, with its end."""
    assert remembered("once") == "this call, this one time"
    assert remembered("30m").endswith("for 30m")
    assert remembered("project").endswith("for 90 days")
    assert "session ends" in remembered("session")
