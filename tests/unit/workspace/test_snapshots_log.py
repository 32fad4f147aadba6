import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.snapshots_log import SnapshotLog
from orchestrator.workspace.snapshots_piece import Piece
from orchestrator.workspace.snapshots_words import Delta, Moment, Snapshot

A, B, C = (Piece("file", 0o644, 1, 1, 0, sha256=letter) for letter in "abc")


@pytest.fixture
def log(tmp_path):
    """Three snapshots: a; a, b; b as c."""
    made = SnapshotLog(tmp_path / "log")
    for number, pieces in ((1, {"a": A}), (2, {"b": B}), (3, {"a": None, "b": C})):
        snapshot = Snapshot(number, Moment("turn", number, f"e{number}"), "now", paths=("x",))
        made.append(snapshot, Delta(pieces, whole=number == 1))
    return made


def test_every_state_can_be_had_again_by_another_process(log):
    """Each is the sum of what changed up to it."""
    again = SnapshotLog.load(log.folder)

    assert again.snapshots == log.snapshots
    assert [again.state_at(n) for n in (1, 2, 3)] == [{"a": A}, {"a": A, "b": B}, {"b": C}]
    assert again.state == log.state == {"b": C}
    assert again.next_number == 4


def test_dropping_the_oldest_leaves_the_others_as_they_were(log):
    """Its pieces go over into the next one; contents nobody names are no longer asked for."""
    assert log.drop_oldest().number == 1
    assert log.digests() == {"a", "b", "c"}
    assert log.drop_oldest().number == 2
    again = SnapshotLog.load(log.folder)

    assert [item.number for item in again.snapshots] == [3]
    assert again.state == {"b": C}
    assert again.digests() == {"c"}
    assert again.next_number == 4


def test_drop_that_was_cut_off_loses_nothing(log):
    """The next one holds everything by then, whatever still comes before it."""
    first = (log.folder / "000001.json").read_bytes()
    log.append(Snapshot(4, Moment("turn"), "now"), Delta({"b": None}))
    log.drop_oldest()
    (log.folder / "000001.json").write_bytes(first)

    assert SnapshotLog.load(log.folder).state_at(2) == {"a": A, "b": B}


def test_torn_snapshot_is_removed_and_not_counted(log):
    """It never got its name."""
    torn = log.folder / "000004.new"
    torn.write_text('{"number": 4, "pie')

    assert len(SnapshotLog.load(log.folder).snapshots) == 3
    assert not torn.exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"pieces": {"a": [1]}, "below": {}}', "\xff"])
def test_broken_snapshot_is_an_error_that_names_it(log, text):
    """It is never taken for an empty one."""
    (log.folder / "000002.json").write_bytes(text.encode("latin-1"))

    with pytest.raises(WorkspaceError, match=r"000002\.json"):
        SnapshotLog.load(log.folder)


def test_host_below_is_as_it_was_at_the_oldest_apply_since(log):
    """Several applies of one path: the first one after the snapshot replaced what was there."""
    for number, below in ((4, {"p": A, "q": None}), (5, {"p": B})):
        log.append(Snapshot(number, Moment("below"), "now"), Delta(below=below))

    assert log.below_since(3) == {"p": A, "q": None}
    assert log.below_since(4) == {"p": B}
    assert log.below_since(5) == {}
