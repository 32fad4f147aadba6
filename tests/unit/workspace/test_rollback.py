from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.workspace.commit import Committer
from orchestrator.workspace.journal import Journal, Step, read_journal, write_journal
from orchestrator.workspace.moves import Swapping
from orchestrator.workspace.node import signature
from orchestrator.workspace.rollback import RolledBack, roll_back
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import picture, write


@pytest.fixture
def applied(tmp_path: Path):
    """A project in which a file was made and another replaced, and the journal of it."""
    root, folder = tmp_path / "p", tmp_path / "folder"
    folder.mkdir()
    write(root, {"f": "old", "d/x": "1"})
    before = picture(root)
    write(root, {"s/1": "new", "s/2": "new too", "s/3": "never applied"})
    staged = [signature((root / "s" / name).stat()) for name in ("1", "2", "3")]
    seen = signature((root / "f").stat())
    steps = (
        Step("create", "d/made", slot="1", staged=staged[0]),
        Step("replace", "f", slot="2", staged=staged[1], seen=seen),
        Step("create", "late", slot="3", staged=staged[2]),
    )
    with open_tree(root) as tree, tree.directory("s") as fd:
        committer = Committer(tree, fd, Swapping(fd), None)
        for step in steps[:2]:
            committer.do(step)
        journal = Journal(str(root), 0, "s", None, "committing", steps)
        write_journal(folder, journal)
        yield root, before, lambda: roll_back(committer, folder, journal, staged=steps)


def test_everything_is_put_back(applied):
    """Staging directory and journal go with it."""
    root, before, back = applied

    assert back().words == "everything was put back"
    assert picture(root) == before
    assert read_journal(root.parent / "folder") is None


def test_what_somebody_changed_is_named_and_what_was_before_is_kept(applied):
    """And only that: what was never applied goes."""
    root, _, back = applied
    (root / "f").unlink()
    (root / "f").write_text("somebody's")

    found = back()

    assert found.kept == ("f",)
    assert f"what was there before is in {root}/s" in found.words
    assert picture(root / "s") == {"2": "644 b'old'"}
    assert read_journal(root.parent / "folder") is None


def test_what_was_removed_meanwhile_is_told(applied):
    """It is not put back by us, and nothing of it is left."""
    root, _, back = applied
    (root / "d/made").unlink()

    found = back()

    assert found.kept == ("d/made",)
    assert "is in" not in found.words
    assert (root / "f").read_text() == "old"


def test_what_is_out_of_reach_stays_in_the_journal(applied):
    """No other step does."""
    root, _, back = applied
    (root / "d").rename(root / "away")
    (root / "d").symlink_to("away")

    found = back()

    assert found.out_of_reach == ("d/made",)
    journal = read_journal(root.parent / "folder")
    assert journal is not None
    assert journal.phase == "undoing"
    assert [step.path for step in journal.steps] == ["d/made"]
    assert (root / "f").read_text() == "old"
    assert picture(root / "s") == {}


def test_many_names_are_counted():
    """A line stays one that can be read."""
    words = RolledBack("/s", out_of_reach=tuple(f"{number:03}" for number in range(100))).words

    assert words.startswith("100 names cannot be reached")
    assert words.endswith("'019' and 80 more")
