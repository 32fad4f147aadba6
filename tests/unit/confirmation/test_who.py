"""Who answers."""

import os
import pwd

from orchestrator.confirmation.who import terminal_name, user_name


def test_user_is_the_one_that_runs_this():
    """By name, as the system knows it."""
    assert user_name() == pwd.getpwuid(os.geteuid()).pw_name


def test_terminal_has_its_name_and_a_pipe_has_none():
    """A pipe is no place that somebody sits at."""
    ours, theirs = os.openpty()
    reading, writing = os.pipe()

    assert terminal_name(theirs) == os.ttyname(theirs)
    assert terminal_name(reading) == ""
    for fd in (ours, theirs, reading, writing):
        os.close(fd)
