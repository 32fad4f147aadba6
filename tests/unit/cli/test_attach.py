"""``glovebox attach``: what it refuses; what it does is in tests/e2e/test_terminal.py."""

import pytest

from orchestrator.cli.attach import key_words


@pytest.mark.parametrize(("key", "words"), [(b"\x1d", "Ctrl-]"), (b"\x11", "Ctrl-Q")])
def test_key_is_named_as_people_say_it(key, words):
    """Whatever was chosen."""
    assert key_words(key) == words


@pytest.mark.parametrize("key", ["ctrl-c", "x", "escape"])
def test_key_that_programs_need_is_refused(world, key):
    """Before a session is looked for."""
    ended = world.run("attach", "--detach-key", key)

    assert (ended.code, ended.out) == (2, "")
    assert "--detach-key" in ended.err


def test_unknown_session_is_said_to_be(world):
    """With the way to those that are."""
    ended = world.run("attach", "0123")

    assert ended.code == 1
    assert "none has such an id" in ended.err
