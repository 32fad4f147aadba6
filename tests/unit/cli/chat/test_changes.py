"""The last row's count of changed files is that of ``/diff``, whatever was applied or taken back."""

import pytest

from orchestrator.cli.chat.changes import count_words
from orchestrator.cli.chat.plain import PlainSurface
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.node import Change, ChangeSet
from tests.support.workspaces import give, write
from tests.support.world import bash

MAKE = bash("echo made > new.txt; echo 2 > old.txt")


def change(kind, **more):
    return Change("a", kind, None, None, **more)


def test_what_the_list_of_changes_leaves_out_is_not_counted():
    """A renamed file is one, and what git ignores none."""
    changes = (
        change("added", renamed_from="b"),
        change("deleted", renamed_to="a"),
        change("modified"),
        change("added", ignored=True),
    )

    assert count_words(ChangeSet(SessionId("s"), "overlay", "/d", changes)) == "+1 ~1 -0"
    assert count_words(ChangeSet(SessionId("s"), "overlay", "/d", changes[3:])) == ""


@pytest.mark.docker
@pytest.mark.parametrize("mode", ["overlay", "copy"])
@pytest.mark.parametrize("then", ["/apply", "/rewind 0 files", "/discard yes"])
def test_files_are_counted_after_an_answer_and_again_at_each_opening(chat, mode, then):
    """An answer of one turn with calls counts when it ends, and what went home no more."""
    counts = []

    class Counting(PlainSurface):
        def attend(self, talk):
            super().attend(talk)
            if talk is not None:
                talk.recount(lambda: counts.append(talk.facts().get("files")))

    write(chat.project, {f"{name}.txt": "1\n" for name in ("old", "b", "c")})
    give(chat.project)
    chat(MAKE, {"text": "done"}, said=["make", then], surface=Counting, workspace=mode)

    assert counts == ["+1 ~1 -0", None]
