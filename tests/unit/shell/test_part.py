"""A word in its role, as messages show it."""

from types import SimpleNamespace

from orchestrator.shell.analysis import Word
from orchestrator.shell.part import Part
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.scope import Places, Scope


def part(shape: str, cwd: str | None = "/workspace") -> Part:
    places = Places(workspace="/workspace", home="/home/agent")
    site = SimpleNamespace(scope=Scope(places, cwd))
    return Part("file", Word(shape, shape, (0, len(shape)), shape=shape), "x", None, site)


def test_path_is_absolute_where_the_directory_is_known():
    """Else there is none."""
    assert part("a/../b").path == "/workspace/b"
    assert part("b", cwd=None).path is None


def test_long_word_is_cut_in_messages():
    """A reason stays readable."""
    assert part("x" * 100).shown == "x" * 59 + "…"


def test_part_that_is_not_static_is_shown_as_such():
    """No marker character reaches a person."""
    assert part(f"a{DYNAMIC}b").shown == "a…b"
