import anyio
import pytest

from orchestrator.cli.picking import Picked, pick
from orchestrator.workspace.node import Change, ChangeSet, Node
from orchestrator.workspace.patch import Piece

FILE = Node("file", 0o644)
HUNKS = (("@@ -1 +1 @@", "-a", "+b"), ("@@ -9 +9 @@", "-c", "+d"))


class Typed:
    """A terminal at which these lines are typed."""

    def __init__(self, *lines: str | None) -> None:
        self.lines = list(lines)
        self.shown = ""
        self.dropped = 0

    def size(self) -> tuple[int, int]:
        return 80, 24

    def write(self, text: str) -> None:
        self.shown += text

    def discard_input(self) -> None:
        self.dropped += 1

    async def read_line(self) -> str | None:
        return self.lines.pop(0)


def asked(terminal: Typed, *pieces: Piece) -> Picked:
    return anyio.run(pick, terminal, ChangeSet("0" * 12, "copy", "/x"), pieces)


def text(path: str, **more) -> Piece:
    return Piece(Change(path, "modified", FILE, FILE, **more), ("diff",), HUNKS, "digest")


def test_no_clear_yes_is_a_no():
    """Nothing typed, something else, or half a word."""
    terminal = Typed("", "ye", "no", "yes please")

    picked = asked(terminal, *(text(str(number)) for number in range(4)))

    assert picked.selection(ignored=False) is None
    assert terminal.dropped == 4


def test_yes_to_a_text_is_bound_to_what_was_shown():
    """All its hunks under the digest, not the path alone."""
    picked = asked(Typed("y"), text("a"))

    assert picked.paths == []
    assert picked.hunks["a"].numbers == {1, 2}
    assert picked.hunks["a"].digest == "digest"


@pytest.mark.parametrize("end", ["q", None])
def test_end_of_input_takes_nothing_more(end):
    """What had its yes before keeps it."""
    picked = asked(Typed("y", end), text("a"), text("b"), text("c"))

    assert list(picked.hunks) == ["a"]


def test_hunks_are_asked_one_by_one():
    """Only those with a yes."""
    picked = asked(Typed("h", "n", "y"), text("a"))

    assert picked.hunks["a"].numbers == {2}


def test_moves_take_both_names():
    """Else the file would stand at both places."""
    moved = Piece(Change("b", "added", None, FILE, renamed_from="a"), ("diff",), (), "")

    assert asked(Typed("y"), moved).paths == ["b", "a"]


def test_refused_and_conflicting_changes_are_shown_and_not_asked():
    """No answer could bring them."""
    terminal = Typed()

    picked = asked(terminal, text("a", refused="never"), text("b", conflict="moved on"))

    assert picked.selection(ignored=False) is None
    assert "never" in terminal.shown
    assert "moved on" in terminal.shown


def test_protected_change_needs_the_whole_word():
    """In the file's question and in each hunk's."""
    first = asked(Typed("y"), text("a", protected=True))
    hunks = asked(Typed("h", "y", "yes"), text("a", protected=True))

    assert first.selection(ignored=False) is None
    assert hunks.hunks["a"].numbers == {2}
    assert hunks.selection(ignored=False).include_protected
