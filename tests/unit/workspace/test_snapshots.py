import os
from contextlib import contextmanager

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.node import Limits
from orchestrator.workspace.snapshots import Snapshots
from orchestrator.workspace.snapshots_scan import Moving
from orchestrator.workspace.snapshots_upper import UpperLayer, file_clock_ns
from orchestrator.workspace.snapshots_words import Moment
from orchestrator.workspace.tree import open_tree


class Session:
    """A folder that plays the upper directory."""

    def __init__(self, root, **more) -> None:
        self.root = root / "upper"
        self.root.mkdir()
        self.below: set[str] = set()
        self.snapshots = Snapshots.open(root, Limits(**more))
        self.folder = root

    @contextmanager
    def layer(self):
        with open_tree(self.root) as tree:
            yield UpperLayer(tree, Limits(), self.snapshots.most_bytes, file_clock_ns() + 10**9)

    def take(self, kind="turn", turn=1):
        return self.snapshots.take(
            self.layer, Moment(kind, turn), stands_below=self.below.__contains__
        )


@pytest.fixture
def session(tmp_path):
    made = Session(tmp_path)
    made.take("start", 0)
    return made


def test_turn_without_changes_has_no_snapshot(session):
    """Also not by a directory's time alone."""
    (session.root / "f").write_text("x")
    assert session.take().snapshot.paths == ("f",)
    (session.root / "g").write_text("x")
    (session.root / "g").unlink()

    assert session.take().snapshot is None
    assert len(session.snapshots.log.snapshots) == 2


def test_words_are_those_of_people(session):
    """What covers a file below is a change of it, not an addition; a directory above is nothing."""
    session.below |= {"d", "d/old", "kept"}
    (session.root / "d").mkdir()
    (session.root / "d" / "old").write_text("changed")
    (session.root / "d" / "new").write_text("new")

    first = session.take().snapshot
    (session.root / "d" / "new").unlink()
    (session.root / "d" / "old").write_text("again")
    second = session.take().snapshot

    assert (first.added, first.modified, first.deleted) == (1, 1, 0)
    assert (second.added, second.modified, second.deleted) == (0, 1, 1)


def test_oldest_snapshots_go_when_there_is_no_room(tmp_path):
    """The newest stays, and those that went are told; a rewind's own never pushes any out."""
    session = Session(tmp_path, bytes=100_000)
    session.take("start", 0)
    for turn in range(1, 6):
        (session.root / "f").write_bytes(os.urandom(40_000))
        taken = session.take(turn=turn)

    assert [item.moment.turn for item in session.snapshots.log.snapshots] == [4, 5]
    assert [item.moment.turn for item in taken.dropped] == [3]
    assert session.snapshots.contents.used_bytes == 80_000
    (session.root / "f").write_bytes(os.urandom(40_000))
    assert session.take("before", 5).dropped == ()


def test_what_a_kill_left_is_tidied(session):
    """Contents that no snapshot names take no room for good."""
    session.snapshots.contents.keep([b"orphan"], size=6)

    session.snapshots.tidy()

    assert session.snapshots.contents.used_bytes == 0


def test_layer_that_never_holds_still_is_held(session):
    """Three tries, then whatever writes is stopped for the while."""
    held = []

    class Restless:
        now_ns = 0

        def walk(self):
            if not held:
                raise Moving("x")
            yield from ()

    @contextmanager
    def hold():
        held.append(True)
        yield

    @contextmanager
    def opened():
        yield Restless()

    session.snapshots.hold = hold
    taken = session.snapshots.take(opened, Moment("turn", 1), stands_below=lambda _: False)

    assert held == [True]
    assert taken.snapshot is None


def test_layer_that_moves_even_then_is_an_error(session):
    """Nothing half is kept."""

    class Restless:
        now_ns = 0

        def walk(self):
            raise Moving("some/path")

    @contextmanager
    def opened():
        yield Restless()

    with pytest.raises(WorkspaceError, match="some/path"):
        session.snapshots.take(opened, Moment("turn", 1), stands_below=lambda _: False)
    assert len(session.snapshots.log.snapshots) == 1


def test_next_process_goes_on_where_this_one_was(session):
    """Numbers, state and budget are on disk."""
    (session.root / "f").write_text("x")
    session.take()

    again = Snapshots.open(session.folder, Limits())

    assert again.log.state.keys() == {"", "f"}
    assert again.log.next_number == 3
