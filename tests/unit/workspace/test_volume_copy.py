import os

import pytest

from orchestrator.engine.volumes import Owner, create_volume, remove_volume
from orchestrator.errors import EngineError, WorkspaceError
from tests.support.workspaces import by_path, play_box

pytestmark = pytest.mark.docker


@pytest.fixture
def copy_desk(desk):
    desk.mode = "copy"
    return desk


def test_box_owns_its_copy(copy_desk):
    """The command's user may write everything, the top directory included."""
    workspace, prepared = copy_desk.begin()

    said = play_box(copy_desk.engine, prepared, "touch top src/x; stat -c %u . app.py src; ls -A")

    assert set(said.split()) >= {str(prepared.uid), "app.py", "link", ".git", "top"}
    assert ".env" not in said
    assert set(by_path(copy_desk.look(workspace))) == {"top", "src/x"}


def test_lost_volume_is_an_error_and_no_deletion(copy_desk):
    """The engine would mount an empty one, in which every file looks deleted."""
    workspace = copy_desk.work("echo x > made")
    record = workspace.site.record
    remove_volume(copy_desk.engine, record.volume)

    with pytest.raises(EngineError, match="no longer has the files"):
        copy_desk.look(workspace)
    with pytest.raises(EngineError, match="no longer has the files"):
        copy_desk.begin(record.session)
    create_volume(copy_desk.engine, record.volume, owner=Owner("f" * 12, workspace.site.folder))
    with pytest.raises(EngineError, match="no longer has the files"):
        copy_desk.look(workspace)


def test_interrupted_filling_is_begun_anew(copy_desk):
    """Half a copy is never taken for the box's work."""
    workspace, _ = copy_desk.begin()
    (workspace.site.folder / "manifest.jsonl").unlink()

    workspace.prepare()

    assert not copy_desk.look(workspace).changes


def test_directory_that_cannot_be_copied_leaves_no_volume(copy_desk):
    """The error comes through the engine's stream as it was raised."""
    deep = copy_desk.project.joinpath(*["d"] * 130)
    deep.mkdir(parents=True)
    with pytest.raises(WorkspaceError, match="nested directories"):
        copy_desk.begin("abcabcabcabc")

    named = {"name": "glovebox-abcabcabcabc-workspace"}
    assert not copy_desk.engine.api.volumes(filters=named)["Volumes"]


def test_special_file_of_the_host_is_told_and_keeps_its_directory(copy_desk):
    """What did not go in cannot come out, and is not deleted with the rest."""
    os.mkfifo(copy_desk.project / "old/pipe")
    workspace, prepared = copy_desk.begin()
    play_box(copy_desk.engine, prepared, "rm -r old")

    applied = copy_desk.take(workspace)

    assert prepared.notices == ("not copied into the box: old/pipe: it is a fifo",)
    assert [item.path for item in applied.left] == ["old"]
    assert [path.name for path in (copy_desk.project / "old").iterdir()] == ["pipe"]
