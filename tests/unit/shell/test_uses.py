"""A program's use: rules at each level, roles of words, help."""

import pytest

from tests.support.shell_reading import findings, risks


@pytest.mark.parametrize(
    "command", ["rm --help", "git push --help", "npm publish --help", "docker run --help"]
)
def test_asking_for_help_does_nothing(command):
    """Reading the manual is free."""
    assert risks(command) == set()


def test_help_after_the_first_operand_is_an_operand():
    """``rm -rf src --help`` may well delete, as POSIXLY_CORRECT shows."""
    assert "destructive" in risks("rm -rf src --help")


def test_rule_of_an_outer_level_sees_the_sub_commands():
    """Clouds are judged by verbs."""
    assert "destructive" in risks("aws ec2 terminate-instances --instance-ids i")
    assert risks("aws ec2 describe-instances") == set()


def test_finding_says_program_and_reason():
    """A person reads why."""
    (finding,) = findings("git reset --hard")
    assert finding.reason == "drops local work"


def test_endless_arguments_are_opaque():
    """Patterns are not tried on what no person would read."""
    assert "opaque" in risks("git log " + "a " * 9000)
