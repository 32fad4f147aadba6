"""Files: looked at beside the box, applied, dropped and brought back with the session at rest."""

import pytest

from orchestrator.cli.chat.plain import PlainSurface
from orchestrator.cli.chat.resting import WHAT
from tests.support.repositories import git
from tests.support.world import bash

pytestmark = pytest.mark.docker

MAKE = bash("echo made > new.txt; echo two > other.txt")


class SecondRow(PlainSurface):
    async def choose(self, rows, at):
        del rows, at
        return 1


class FirstOtherSnapshot(PlainSurface):
    async def choose(self, rows, at):
        self.note("\n".join(rows))
        return at + 1


def test_changes_are_shown_while_the_session_is_up(chat):
    """Nothing of them is at home yet."""
    _, _, told = chat(MAKE, {"text": "done"}, said=["make", "/diff"])

    assert "+made" in told
    assert not (chat.project / "new.txt").exists()


def test_changes_are_brought_home_and_the_chat_goes_on(chat):
    """All, or what a glob matches; then there is nothing left to apply."""
    turns = (MAKE, {"text": "done"}, bash("cat new.txt other.txt"), {"text": "end"})
    said = ["make", "/apply new.txt", "/apply", "/apply", "look"]
    end, answers, told = chat(*turns, said=said)

    assert (chat.project / "new.txt").read_text() == "made\n"
    assert (chat.project / "other.txt").read_text() == "two\n"
    assert told.count("1 changes applied to") == 2
    assert "no changes wait" in told
    assert answers == ["done", "end"]
    assert not end.changed


def test_changes_are_dropped_only_by_the_whole_word(chat):
    turns = (MAKE, {"text": "done"}, bash("ls"), {"text": "end"})
    _, _, told = chat(*turns, said=["make", "/discard", "/diff", "/discard yes", "look", "/diff"])

    assert "/discard yes drops them" in told
    assert told.count("+made") == 1
    assert "the changes were dropped" in told
    assert "nothing is changed" in told
    assert not (chat.project / "new.txt").exists()


def test_files_and_conversation_go_back_to_a_turn_and_forth_again(chat):
    """By its number, or as chosen from the list."""
    turns = (MAKE, bash("rm new.txt"), {"text": "done"})
    said = ["make", "/rewind 1 files", "/diff", "/rewind undo", "/rewind"]
    _, _, told = chat(*turns, said=said, surface=SecondRow)

    assert "the files are back at the end of turn 1" in told
    assert told.count("+made") == 1
    assert "the newest rewind is undone: the files are as before it" in told
    assert "files and conversation are back at the end of turn 1" in told


def test_snapshots_stand_beside_the_turns_and_can_be_chosen(chat):
    """Also those that are no turn's: what the files were before a rewind."""
    turns = (MAKE, bash("rm new.txt"), {"text": "done"})
    said = ["make", "/rewind 1 files", "/rewind", "/diff"]
    _, _, told = chat(*turns, said=said, surface=FirstOtherSnapshot)

    rows = [line.split() for line in told.splitlines()]
    assert [row[:2] for row in rows if row and row[0].isdigit()][:3] == [
        ["0", "s1"],
        ["1", "s2"],
        ["2", "s3"],
    ]
    assert "before a rewind at turn 3" in told
    assert "back at the end of turn 3" in told
    assert "+made" not in told
    assert "+two" in told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/rewind nowhere", "/rewind: expected a turn"),
        ("/rewind 1 2", "/rewind: expected a turn"),
        ("/rewind 99", "expected a turn from 0 to 2 or a snapshot such as s1, got '99'"),
        ("/rewind 99 conversation", "expected a turn from 0 to 2"),
        ("/rewind s99", "there is no snapshot s99"),
        ("/rewind undo", "there is nothing to undo"),
        ("/rewind undo files", "with nothing after it"),
        ("/apply none-such", "no change matches none-such"),
        ("/apply [", "no change matches ["),
        ("/apply made.log", "1 changes that git ignores"),
        ("/discard", "/discard yes drops them"),
    ],
)
def test_what_cannot_be_done_is_refused_before_the_box_is_touched(chat, line, told):
    """What runs in it and what is in its memory is there as before."""
    git(chat.project, "init", "-q")
    (chat.project / ".gitignore").write_text("*.log\n")
    begin = bash("touch /tmp/mark; echo 1 > made; echo 1 > made.log")
    turns = (begin, {"text": "a"}, bash("ls /tmp/mark"), {"text": "b"})
    _, answers, notes = chat(*turns, said=["first", line, "second"])

    assert told in notes
    assert answers == ["a", "b"]
    assert "| /tmp/mark" in notes.replace("│", "|")
    assert set(WHAT) == {"files", "conversation", "both"}


def test_nothing_to_apply_leaves_the_box_as_it_is(chat):
    turns = (bash("touch /tmp/mark"), {"text": "a"}, bash("ls /tmp/mark"), {"text": "b"})
    _, _, notes = chat(*turns, said=["first", "/apply", "second"])

    assert "no changes wait" in notes
    assert "| /tmp/mark" in notes.replace("│", "|")
