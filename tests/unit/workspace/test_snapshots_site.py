import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.rewind import FileHistory
from orchestrator.workspace.snapshots_site import (
    after_apply,
    before_apply,
    open_snapshots,
    require_kept,
)
from orchestrator.workspace.snapshots_words import Moment
from tests.support.workspaces import by_path

pytestmark = pytest.mark.docker


def test_apply_keeps_what_the_host_had(desk):
    """Replaced files, and that nothing stood at the top of what is new."""
    workspace = desk.work("echo more >> app.py; mkdir -p new/deep; echo x > new/deep/f; rm link")
    FileHistory(workspace).take(Moment("turn", 1, "a"))

    before_apply(workspace.site, by_path(desk.look(workspace)).values())

    snapshots = open_snapshots(workspace.site)
    below = snapshots.log.below_since(1)
    assert {path: piece and piece.type for path, piece in below.items()} == {
        "app.py": "file",
        "new": None,
        "link": "symlink",
    }
    assert snapshots.contents.has(below["app.py"].sha256)
    assert snapshots.log.snapshots[-1].moment == Moment("below", 1, "a")


def test_session_without_snapshots_is_applied_as_ever(desk):
    """Nothing is kept where nothing could come back."""
    workspace = desk.work("echo more >> app.py")

    before_apply(workspace.site, by_path(desk.look(workspace)).values())
    after_apply(workspace.site)

    assert not (workspace.site.folder / "snapshots").exists()


def test_mode_without_snapshots_is_refused_with_its_reason(desk):
    """The conversation still can go back."""
    desk.mode = "bind"
    workspace, _ = desk.begin()

    with pytest.raises(WorkspaceError, match="your own files") as caught:
        require_kept(workspace.site)

    assert "--conversation" in caught.value.hint
