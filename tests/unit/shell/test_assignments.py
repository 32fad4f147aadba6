"""Assignments in the tree."""

from tests.support.shell_reading import argvs, only, risks


def test_prefix_holds_for_its_command_alone():
    """``A=1 x`` sets nothing afterwards."""
    assert only("A=1 B=$C x").environment == (("A", "1"), ("B", None))
    assert argvs("A=1 x; y $A")[-1] == ["y", None]


def test_value_with_a_substitution_runs_it():
    """An assignment alone can do harm."""
    assert risks("A=$(rm -rf src)") == {"destructive"}
    assert risks("A=1 B=$(git push) ls") == {"publishes"}


def test_variable_remembers_that_it_holds_fetched_text():
    """A detour over a variable hides nothing; a new value clears it."""
    assert "remote_code" in risks('A=$(curl x); eval "$A"')
    assert risks('A=$(curl x); A=ls; eval "$A"') == set()


def test_array_elements_are_words():
    """An array can be a whole command."""
    assert argvs('A=(git push); A+=(-f); "${A[@]}"')[-1] == ["git", "push", "-f"]
