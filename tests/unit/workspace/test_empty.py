import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.node import Change

pytestmark = pytest.mark.docker


def test_nothing_goes_in_and_nothing_comes_out(desk):
    """A mount in memory, no volume, no changes."""
    desk.mode = "none"
    workspace, prepared = desk.begin(disk_bytes=1000)

    assert [(mount.kind, mount.size) for mount in prepared.mounts] == [("tmpfs", 1000)]
    assert not workspace.changes()
    with workspace.content() as content, pytest.raises(WorkspaceError, match="gone with the box"):
        content(Change("a", "added", None, None))
    workspace.remove()
    assert not workspace.site.folder.exists()
