from pathlib import Path

from orchestrator.workspace.record import WorkspaceRecord
from orchestrator.workspace.workspace import Site, WorkspaceSpec


def test_what_is_read_back_is_limited_by_the_box_disk(tmp_path):
    """A box cannot hand back more than it was allowed to write."""
    spec = WorkspaceSpec("0" * 12, Path("/x"), "copy", "i", disk_bytes=123)
    record = WorkspaceRecord(
        session=spec.session,
        mode=spec.mode,
        directory="/x",
        inode=1,
        uid=1,
        gid=1,
        volume="v",
        image=spec.image,
        started_ns=1,
        disk_bytes=spec.disk_bytes,
    )

    assert Site(record, tmp_path, None).limits.bytes == 1024**3 + 123
