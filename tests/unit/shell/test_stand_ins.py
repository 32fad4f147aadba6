"""Programs under another name."""

import pytest

from tests.support.shell_reading import risks


@pytest.mark.parametrize(
    "command",
    [
        "cp /usr/bin/git ./x; ./x push",
        "ln -s /usr/bin/git /tmp/y && /tmp/y push",
        "cp $(command -v git) x; ./x push",
        "cp /usr/bin/git tools/; tools/git push",
        "install -m755 /usr/bin/git x; (./x push)",
    ],
)
def test_a_copied_program_is_still_that_program(command):
    """Another name is no other program."""
    assert "publishes" in risks(command)


@pytest.mark.parametrize(
    "command", ["cp /usr/bin/git ./x; ./y push", "cp a.sh x; ./x push", "cp git.md x; ./x push"]
)
def test_other_copies_are_only_files(command):
    """What was not copied from a program is the work's own."""
    assert risks(command) == set()
