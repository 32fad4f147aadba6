"""Which text a shell's arguments make it run."""

import pytest

from orchestrator.shell.analysis import Word
from orchestrator.shell.shells import read_shell_arguments


def call(line):
    words = [Word(text, text, (0, 0), shape=text) for text in line.split()]
    return read_shell_arguments(words)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("-c x", "x"),
        ("-lc x", "x"),
        ("-xec x", "x"),
        ("-c -e x", "x"),
        ("-o pipefail -c x", "x"),
        ("--norc -c x y", "x"),
        ("+e -c x", "x"),
        ("-euo pipefail -c x", "x"),
        ("--rcfile f -c x", "x"),
        ("-c -- x", "x"),
    ],
)
def test_code_is_the_first_operand_after_a_c(line, code):
    """Wherever the option stands, alone or in a cluster."""
    found = call(line)
    assert found.code is not None
    assert found.code.value == code


@pytest.mark.parametrize(("line", "script"), [("x a", "x"), ("-e x", "x"), ("-- x", "x")])
def test_first_operand_is_the_script(line, script):
    """Without -c a file is run."""
    found = call(line)
    assert found.script is not None
    assert found.script.value == script


@pytest.mark.parametrize("line", ["", "-s", "-s a b", "-", "-i"])
def test_without_a_script_input_is_run(line):
    """A shell with nothing to read reads its input."""
    assert call(line).from_input


@pytest.mark.parametrize("line", ["--version", "--help", "-n x", "-c"])
def test_some_calls_run_nothing(line):
    """Help, syntax checks and an empty -c."""
    assert call(line).does_nothing
