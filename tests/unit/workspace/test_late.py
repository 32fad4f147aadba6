"""What a live view may have shown is told, and nothing else."""

from orchestrator.workspace.late import late_notes
from orchestrator.workspace.record import WorkspaceRecord
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import write


def record(directory, started_ns):
    return WorkspaceRecord(
        session="abc",
        mode="overlay",
        directory=str(directory),
        inode=1,
        uid=1000,
        gid=1000,
        volume="v",
        image="i",
        started_ns=started_ns,
        hidden=("**/.env",),
        disk_bytes=1,
    )


def paths(directory, started_ns, covered=()):
    with open_tree(directory) as tree:
        notes = late_notes(tree, record(directory, started_ns), covered=lambda p: p in covered)
        return [note.partition(":")[0] for note in notes]


def test_only_what_came_after_the_start_and_is_not_covered(tmp_path):
    """Files with credentials count as hidden ones do; plain files do not."""
    write(tmp_path, {".env": "x", "a/.env": "x", ".npmrc": "_authToken=abc\n", "app.py": "x"})
    times = sorted(path.stat().st_ctime_ns for path in tmp_path.rglob("*"))

    assert paths(tmp_path, times[0] - 1) == [".env", ".npmrc", "a/.env"]
    assert paths(tmp_path, times[0] - 1, covered={".env"}) == [".npmrc", "a/.env"]
    assert paths(tmp_path, times[-1]) == []
