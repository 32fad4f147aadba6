import json

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.snapshots_file import read_snapshot, write_snapshot
from orchestrator.workspace.snapshots_piece import Piece, whiteout
from orchestrator.workspace.snapshots_words import Delta, Moment, Snapshot

SNAPSHOT = Snapshot(7, Moment("turn", 3, "e"), "now", added=1, paths=("a\udcff",), restored=2)
DELTA = Delta(
    {"a\udcff": Piece("symlink", 0o777, 1, 2, 3, target="b"), "gone": None},
    {"x": whiteout()},
    whole=True,
)


def test_snapshot_is_had_back_as_it_was_written(tmp_path):
    """Nothing beside it stays."""
    path = tmp_path / "000007.json"
    write_snapshot(path, SNAPSHOT, DELTA)

    assert read_snapshot(path) == (SNAPSHOT, DELTA)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("missing", ["pieces", "below", "whole", "moment", "number"])
def test_field_that_is_missing_is_an_error(tmp_path, missing):
    """Half a snapshot is none."""
    path = tmp_path / "000007.json"
    write_snapshot(path, SNAPSHOT, DELTA)
    data = json.loads(path.read_text())
    del data[missing]
    path.write_text(json.dumps(data))

    with pytest.raises(WorkspaceError, match="cannot be read"):
        read_snapshot(path)
