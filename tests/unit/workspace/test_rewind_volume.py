import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.node import Limits
from orchestrator.workspace.record import load_record
from orchestrator.workspace.rewind import FileHistory
from orchestrator.workspace.rewind_volume import rebuild_volume
from orchestrator.workspace.snapshots import Snapshots
from orchestrator.workspace.snapshots_piece import Piece
from orchestrator.workspace.snapshots_words import Moment
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import by_path

pytestmark = pytest.mark.docker


@pytest.fixture
def copied(desk):
    """A copy in which a box worked, with one snapshot of it."""
    desk.mode = "copy"
    workspace = desk.work("echo more >> app.py; echo new > new")
    FileHistory(workspace).take(Moment("turn", 1, "a"))
    return workspace


def rebuild(workspace, project, change):
    """Make the volume anew with ``change`` done to what it is now."""
    site = workspace.site
    snapshots = Snapshots.open(site.folder, Limits())
    wanted = {**snapshots.log.state, **change}
    wanted = {path: piece for path, piece in wanted.items() if piece is not None}
    with open_tree(project) as host:
        rebuild_volume(
            site, wanted, present=snapshots.log.state, contents=snapshots.contents, host=host
        )
    record = load_record(site.folder)
    workspace.site = type(site)(record, site.folder, site.engine, site.labels)


def test_what_is_not_wanted_is_gone_and_the_rest_stays(desk, copied):
    """By another volume, which the record names; the old one is removed."""
    before = copied.site.record.volume

    rebuild(copied, desk.project, {"new": None})

    assert set(by_path(desk.look(copied))) == {"app.py"}
    volumes = desk.engine.api.volumes(filters={"name": before})["Volumes"]
    assert [volume["Name"] for volume in volumes] == [copied.site.record.volume] != [before]


def test_content_that_nobody_has_changes_nothing(desk, copied):
    """The record still names the old volume, and no second one is left."""
    before = copied.site.record.volume
    unknown = Piece("file", 0o644, 1, 1, 0, size=1, sha256="0" * 64)

    with pytest.raises(WorkspaceError, match=r"'new'.*nothing has changed"):
        rebuild(copied, desk.project, {"new": unknown})

    assert load_record(copied.site.folder).volume == before
    assert len(desk.engine.api.volumes(filters={"name": before})["Volumes"]) == 1
    assert set(by_path(desk.look(copied))) == {"app.py", "new"}


def test_volume_that_came_out_otherwise_is_not_taken(desk, copied):
    """It is read back before the record names it: a directory cannot hold a file's name."""
    state = Snapshots.open(copied.site.folder, Limits()).log.state
    below = Piece(**{n: getattr(state["new"], n) for n in Piece.__slots__})

    with pytest.raises(Exception, match=r"new|copy files"):
        rebuild(copied, desk.project, {"new/below": below})

    assert set(by_path(desk.look(copied))) == {"app.py", "new"}
    assert (
        len(desk.engine.api.volumes(filters={"name": copied.site.record.session})["Volumes"]) == 1
    )


def test_discard_leaves_no_volume(desk, copied):
    """Neither the present one nor what a rewind had begun to fill."""
    rebuild(copied, desk.project, {"new": None})
    session = copied.site.record.session

    desk.clean()

    assert desk.engine.api.volumes(filters={"name": session})["Volumes"] in ([], None)
