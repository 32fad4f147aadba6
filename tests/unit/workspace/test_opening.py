import anyio
import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.handover import discard_changes
from orchestrator.workspace.opening import (
    drop_workspace,
    leave_unused,
    load_workspace,
    volume_name,
)
from orchestrator.workspace.record import load_record
from tests.support.workspaces import give, play_box

pytestmark = pytest.mark.docker


def test_directory_of_root_is_copied_with_a_notice(desk):
    """An overlay would not hold there, and the person is told why."""
    give(desk.project, 0)
    workspace, prepared = desk.begin()

    if desk.project.stat().st_uid == 0:
        assert prepared.mode == "copy"
        assert "belongs to root" in prepared.notices[0]
    else:
        assert (prepared.mode, prepared.notices) == ("overlay", ())
    assert prepared.uid != 0
    assert workspace.site.record.mode == prepared.mode


def test_failed_start_leaves_nothing_behind(desk, tmp_path):
    """No folder, no volume."""
    desk.project = tmp_path / "none"

    with pytest.raises(WorkspaceError, match="cannot be used"):
        desk.begin("abcdefabcdef")

    assert not desk.paths.work("abcdefabcdef").exists()
    named = {"name": volume_name("abcdefabcdef")}
    assert not desk.engine.api.volumes(filters=named)["Volumes"]


def test_session_goes_on_with_its_own_files(any_desk):
    """A second start finds what the first one's box left, and hides what is hidden by now."""
    workspace, prepared = any_desk.begin()
    session = workspace.site.record.session
    play_box(any_desk.engine, prepared, "echo 1 > made")

    _, again = any_desk.begin(session)

    assert play_box(any_desk.engine, again, "cat made; ls -A src") == "1\nmod.py\n"


def test_session_does_not_move_to_another_directory(desk, tmp_path):
    """Its changes belong to one project."""
    workspace, _ = desk.begin()
    (tmp_path / "other").mkdir()
    desk.project = tmp_path / "other"

    with pytest.raises(WorkspaceError, match="expected to go on in"):
        desk.begin(workspace.site.record.session)


def test_workspace_is_loaded_from_its_record(any_desk):
    """Another process sees the same changes."""
    workspace = any_desk.work("echo x > made")
    session = workspace.site.record.session

    loaded = load_workspace(session, paths=any_desk.paths, engine=any_desk.engine)

    assert [change.path for change in any_desk.look(loaded).changes] == ["made"]
    anyio.run(discard_changes, loaded)
    with pytest.raises(WorkspaceError, match="no changes waiting"):
        load_workspace(session, paths=any_desk.paths, engine=any_desk.engine)


def test_broken_record_can_be_dropped(any_desk):
    """Volume and folder go by their names alone."""
    workspace, _ = any_desk.begin()
    site = workspace.site
    (site.folder / "workspace.json").write_text("{")
    with pytest.raises(WorkspaceError, match="cannot be read"):
        load_record(site.folder)

    drop_workspace(site.record.session, paths=any_desk.paths, engine=any_desk.engine)

    assert not site.folder.exists()
    assert not any_desk.engine.api.volumes(filters={"name": site.record.volume})["Volumes"]


def test_workspace_that_was_to_be_removed_is_begun_anew(any_desk):
    """A resumed session never goes on in files that a sweep may take away under it."""
    workspace = any_desk.work("echo x > made")
    leave_unused(workspace.site.folder)

    again, prepared = any_desk.begin(workspace.site.record.session)

    assert "made" not in play_box(any_desk.engine, prepared, "ls")
    assert not again.site.record.warm
    assert not load_record(again.site.folder).warm
