"""What was not there at the start is told of, by directory, and never without an end."""

import os
import shutil

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.doors import find_doors
from orchestrator.workspace.late_doors import Looked, late_door_notes, note_doors
from orchestrator.workspace.record import WorkspaceRecord
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import write


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "session"
    made.mkdir()
    return made


@pytest.fixture
def seen(tmp_path):
    root = tmp_path / "seen"
    write(root, {"a.txt": "a", ".ssh/config": "x"})
    os.mkfifo(root / "old")
    return root


def look(folder, place, root):
    with open_tree(root) as tree:
        note_doors(folder, place, {root: Looked(tuple(find_doors(tree)), (".ssh",))})


def notes(folder, root):
    record = WorkspaceRecord(
        session="abc",
        mode="bind",
        directory=str(root),
        inode=1,
        uid=1000,
        gid=1000,
        volume="v",
        image="i",
        started_ns=2**62,
        disk_bytes=1,
    )
    return list(late_door_notes(folder, record))


def test_nothing_is_said_of_what_was_covered_or_hidden(folder, seen):
    """Nor where no directory was live at all."""
    assert notes(folder, seen) == []
    look(folder, "workspace", seen)
    look(folder, "dirs", seen)
    os.mkfifo(seen / ".ssh/below-a-cover")

    assert notes(folder, seen) == []


def test_late_ones_are_told_of_with_what_they_mean(folder, seen):
    """What the box may write to, it may have made."""
    look(folder, "workspace", seen)
    look(folder, "dirs", seen)
    os.mkfifo(seen / "new")

    first, second = notes(folder, seen)

    assert first.startswith("new: a pipe that was not there at the start, so that nothing covered")
    assert first.endswith("if the box made it, a program of yours that uses it speaks to the box")
    assert second.startswith(f"{seen}/new: a pipe that was not there")
    assert second.endswith(": the box could use it")


def test_next_run_of_a_session_knows_its_own_directories_alone(folder, seen):
    """Those of an earlier run are no concern of it."""
    look(folder, "dirs", seen)
    note_doors(folder, "dirs", {})
    os.mkfifo(seen / "new")

    assert notes(folder, seen) == []


def test_flood_is_counted(folder, seen):
    """A box cannot bury a line under a million."""
    look(folder, "workspace", seen)
    for number in range(50):
        os.mkfifo(seen / f"n{number:02}")

    told = notes(folder, seen)

    assert len(told) == 21
    assert told[-1].startswith("and 30 more")


def test_directory_that_is_gone_is_said_to_be(folder, seen):
    """Nobody can tell what was in it."""
    look(folder, "dirs", seen)
    shutil.rmtree(seen)

    [note] = notes(folder, seen)

    assert "cannot be told" in note


def test_broken_list_is_no_silence(folder, seen):
    """An error that names the file."""
    (folder / "doors-dirs.json").write_text("{")

    with pytest.raises(WorkspaceError, match=r"doors-dirs\.json"):
        notes(folder, seen)
