"""Changed values, held against real bash."""

import subprocess

import pytest

from orchestrator.shell.changes import change
from tests.support.shell_reading import risks

OPERATIONS = [
    *("#ab", "##ab", "%cd", "%%cd", "#x", ":1", ":1:2", ": -2", ":1:-1", ":9", "/b/X", "//b/X"),
    *("/#ab/X", "/%cd/X", "/b", "//b", "^", "^^", ",", ",,", "@U", "@u", "@L", "/zz/X"),
]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("value", ["abbcd", "Abcd", ""])
def test_changed_value_is_what_bash_makes_of_it(operation, value):
    """Cutting, slicing, replacing and changing case come out alike."""
    script = f'x={value}; printf %s "${{x{operation}}}"'
    bash = subprocess.run(["/bin/bash", "-c", script], capture_output=True, text=True, check=True)

    assert change(value, operation) == bash.stdout


@pytest.mark.parametrize("operation", ["#*a", "%%?", "/[ab]/X", "^[a]", ":$n", "/a/$b", "@Q", "?x"])
def test_pattern_that_is_more_than_text_is_not_followed(operation):
    """What is not certain is not known."""
    assert change("abc", operation) is None


@pytest.mark.parametrize(
    "command",
    [
        "x=Zpush; git ${x#Z}",
        "x=PUSH; git ${x,,}",
        "x=p_sh; git ${x/_/u}",
        "y=push; x=y; git ${!x}",
        "x=(a Zpush); git ${x[1]:1}",
        "git ${x:-push}",
        "git ${x:=push}; git $x",
        "x=1; git ${x:+push}",
        "set -- Zpush; git ${1#Z}",
        "[ -f a ] && x=push; git $x",
        "false || x=push; git $x",
        "f=$(printf 'ls #\\ngit push'); eval \"$f\"",
        "coproc { x=push; git $x; }",
        "coproc P { git push; }",
    ],
)
def test_value_is_followed_into_the_command(command):
    """A value on its way is still that value."""
    assert "publishes" in risks(command)


@pytest.mark.parametrize(
    "command", ["${x:-ls} -l", "x=push; y=${x%h}; echo $y", "coproc { cat; }", "git ${x:-status}"]
)
def test_harmless_value_stays_harmless(command):
    """Following values is no reason to ask."""
    assert risks(command) == set()
