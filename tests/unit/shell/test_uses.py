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


@pytest.mark.parametrize(
    "command",
    [
        "mkdir sub; echo 'import os; os.system(\"git push\")' > sub/conftest.py; pytest sub",
        "cd sub; echo 'import os; os.system(\"git push\")' > conftest.py; python3 -m pytest",
        "printf 'x:\\n\\tgit push\\n' > sub/Makefile; make -C sub",
        "printf '[testenv]\\ncommands = git push\\n' > tox.ini; tox",
    ],
)
def test_a_file_just_written_is_run_by_its_default_name(command):
    """A program finds it without being told."""
    assert "publishes" in risks(command)


def test_a_file_of_another_name_or_place_is_not_looked_for():
    """Nothing runs it."""
    code = "echo 'import os; os.system(\"git push\")' > {}; pytest"
    assert risks(code.format("notes.py")) == set()
    assert risks(code.format("/tmp/x/conftest.py")) == set()
