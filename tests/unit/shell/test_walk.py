"""The walk: every statement form is entered, with the right surroundings."""

import pytest

from orchestrator.shell.analyse import analyse
from tests.support.shell_reading import argvs, only, risks


@pytest.mark.parametrize(
    "form",
    [
        "{}",
        "ls; {}",
        "ls && {}",
        "ls || {}",
        "ls & {}",
        "ls\n{}",
        "! {}",
        "( {} )",
        "{{ {}; }}",
        "if {}; then :; fi",
        "if a; then :; elif {}; then :; fi",
        "if a; then :; else {}; fi",
        "while {}; do :; done",
        "until a; do {}; done",
        "for i in 1; do {}; done",
        "for ((;;)); do {}; break; done",
        "select i in 1; do {}; done",
        "case x in x) {};; esac",
        "ls | {}",
        "{} | cat",
        "ls |& {}",
        "echo $({})",
        "echo `{}`",
        'echo "$({})"',
        "echo ${{x:-$({})}}",
        "x=$({})",
        "a=($({}))",
        "cat <({})",
        "ls > >({})",
        "cat <<E\n$({})\nE",
        "cat <<E\n`{}`\nE",
        "cat <<< $({})",
        "[[ -n $({}) ]]",
        '[ -n "$({})" ]',
        "(( $({}) ))",
        "f() {{ {}; }}",
        "function f {{ {}; }}; f",
        "{} > out",
        "cat <<E && {}\nx\nE",
        "cat <<E | {}\nx\nE",
        "time {}",
        "coproc {}",
        "export X=$({})",
    ],
)
def test_command_in_any_syntax_is_found(form):
    """There is no place in a command line where something runs unseen."""
    assert "publishes" in risks(form.format("git push"))


def test_pipeline_members_know_their_neighbours():
    """Rules can ask who feeds whom."""
    found = [
        (item.program, item.piped_from, item.pipes_into) for item in analyse("a | b | c").commands
    ]
    assert found == [("a", None, "b"), ("b", "a", "c"), ("c", "b", None)]


def test_command_carries_environment_redirects_and_directory():
    """Everything around a command is part of it."""
    command = only("A=1 x -a > out 2>&1")
    assert command.environment == (("A", "1"),)
    assert [(item.op, item.target, item.writes) for item in command.redirects] == [
        (">", "out", True),
        (">&", None, False),
    ]
    assert only("x").cwd == "/workspace"


def test_wrappers_are_taken_off_and_named():
    """What runs is what is judged."""
    command = only("timeout 5 nice -n 3 ls -l")
    assert (command.program, command.wrappers) == ("ls", ("timeout", "nice"))


@pytest.mark.parametrize(
    ("command", "origin"),
    [
        ("sh -c 'x'", "sh -c"),
        ("eval 'x'", "eval"),
        ("echo $(x)", "$()"),
        ("trap 'x' EXIT", "trap"),
        ("f() { x; }", "function f"),
        ("bash <<< x", "stdin"),
    ],
)
def test_nested_command_says_where_it_comes_from(command, origin):
    """A person can find the code that a finding speaks of."""
    assert origin in {item.origin for item in analyse(command).commands if item.program == "x"}


def test_redirection_after_a_pipeline_belongs_to_its_last_member():
    """bash binds it to the last command; so a heredoc feeds that one."""
    assert "destructive" in risks("true | bash <<'E'\nrm -rf src\nE")
    assert risks("bash -c 'ls' | cat <<'E'\nrm -rf src\nE") == set()


def test_subshell_keeps_its_directory_to_itself():
    """``(cd x; …)`` changes nothing outside."""
    assert [item.cwd for item in analyse("(cd /tmp); x").commands][-1] == "/workspace"


def test_function_is_read_with_the_arguments_of_each_call():
    """A body is judged with what it is given."""
    assert ["git", "push"] in argvs('f() { git "$1"; }; f push')
    assert "publishes" in risks('f() { git "$1"; }; f push')


def test_function_hides_the_program_of_its_name():
    """``ls`` is what the shell takes it for."""
    assert "publishes" in risks("ls() { git push; }; ls")
    assert risks("ls() { echo; }; ls") == set()


def test_exec_gives_a_later_program_its_input():
    """Until another takes its place, and not beyond the subshell it stands in."""
    assert "publishes" in risks("exec < <(echo git push); bash")
    assert "publishes" in risks("exec <<< 'git push'; ls; sh -s")
    assert "publishes" not in risks("(exec <<< 'git push'); echo ls | bash")
    assert risks("exec <<< 'git push'; bash <<< ls") == set()


def test_a_background_job_meets_what_is_written_after_it():
    """Its start does not wait for the end of the line."""
    assert "publishes" in risks("bash p & echo 'git push' > p")
    assert "publishes" in risks("(sleep 1; bash p) & echo 'git push' > p; wait")
    assert risks("bash p & echo ls > p; wait") == set()
    assert risks("bash p; echo 'git push' > p") == set()
