"""Loops and branches: read as often as it takes, and no more."""

from orchestrator.shell.analyse import analyse
from tests.support.shell_reading import argvs, risks


def test_loop_over_static_items_is_read_for_each():
    """A program name in a loop variable is no secret."""
    assert argvs("for c in push fetch; do git $c; done") == [["git", "push"], ["git", "fetch"]]


def test_loop_over_unknown_items_is_read_once_with_an_unknown_variable():
    """What a glob finds is not known."""
    assert argvs('for f in *.x; do x "$f"; done') == [["x", None]]


def test_nested_static_loops_stay_within_their_budget():
    """Loops in loops do not multiply without end."""
    nest = "for i in 1 2 3 4 5 6 7 8; do " * 5 + "x $i" + "; done" * 5
    assert len(analyse(nest).commands) <= 24


def test_script_from_a_loop_over_the_workspace_is_the_works_own():
    """``for t in tests/*.sh`` runs the project's files; a list from elsewhere does not."""
    assert risks('for t in tests/*.sh; do bash "$t"; done') == set()
    assert "opaque" in risks('for t in /srv/*.sh; do bash "$t"; done')


def test_directory_after_a_branch_is_the_outer_one():
    """A delete is judged against the case that matters more."""
    assert risks("if x; then cd src; fi; rm ../a") == {"destructive"}
