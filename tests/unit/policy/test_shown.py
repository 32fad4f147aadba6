"""Does a text show what was started?"""

import pytest

from orchestrator.policy.shown import Shown
from orchestrator.shell.analyse import analyse


def covers(text, started):
    return Shown(analyse(text)).covers(analyse(started))


@pytest.mark.parametrize(
    ("text", "started"),
    [
        ("git push origin main", "git push origin main"),
        ("git push origin main", "/usr/bin/git push origin main"),
        ("git push origin main", "sh -c 'git push origin main'"),
        ("rm -rf build", "rm -r -f build"),
        ('git push origin "$B"', "git push origin main"),
        ("git push $ARGS", "git push --force a b"),
        ("ls; git push; rm -rf build", "git push"),
        ("mytool a b", "mytool a b"),
    ],
)
def test_what_stands_in_the_text_is_shown(text, started):
    """However it is spelled, and with anything where the text is open."""
    assert covers(text, started)


@pytest.mark.parametrize(
    ("text", "started"),
    [
        ("git push origin main", "git push --force origin main"),
        ("git push origin main", "git push origin main && rm -rf build"),
        ('git push origin "$B"', "git push --force origin main"),
        ('git push origin "$B"', "git push origin a b"),
        ("$TOOL push", "git push"),
        ("rm -rf build", "rm -rf builder"),
        ("mytool a", "mytool a b"),
        ("echo git push", "git push"),
    ],
)
def test_anything_else_is_not(text, started):
    """A word more, an option more, another place; nor is text that only names it."""
    assert not covers(text, started)
