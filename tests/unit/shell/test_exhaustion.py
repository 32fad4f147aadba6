"""Fork bombs."""

import pytest

from tests.support.shell_reading import risks


@pytest.mark.parametrize(
    "command",
    [
        ":(){ :|:& };:",
        "b() { b | b & }; b",
        "f(){ f & f; }; f",
        "while true; do x & done",
        "while :; do (x &); done",
        "for ((;;)); do x & done",
        "yes > f",
        "cat /dev/zero > f",
    ],
)
def test_command_that_only_grows_is_exhaustion(command):
    """It would fill the box until its limits stop it."""
    assert "exhaustion" in risks(command)


@pytest.mark.parametrize(
    "command",
    ["f() { x | y & }; f", "while read l; do x & done < f", "f() { g; }; f", "x & y & wait"],
)
def test_background_work_is_no_bomb(command):
    """Starting things beside each other is ordinary."""
    assert risks(command) == set()
