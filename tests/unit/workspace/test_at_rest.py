import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.at_rest import await_rest, is_first_writer, note_writer, rest_word
from tests.support.workspaces import by_path, play_box, running_box

pytestmark = pytest.mark.docker


@pytest.fixture
def copy_desk(desk):
    desk.mode = "copy"
    return desk


def test_without_a_note_nothing_is_known(copy_desk):
    """A session of an earlier version has none."""
    workspace, _ = copy_desk.begin()

    assert rest_word(workspace.site) == ""
    assert not is_first_writer(workspace.site.folder)
    assert copy_desk.look(workspace).rest == ""


def test_each_box_has_a_word_of_its_own(copy_desk):
    """Who saw the word before a box started sees another one after it."""
    workspace, _ = copy_desk.begin()
    note_writer(workspace.site.folder)
    first = rest_word(workspace.site)
    same = rest_word(workspace.site)
    assert is_first_writer(workspace.site.folder)
    note_writer(workspace.site.folder)
    assert not is_first_writer(workspace.site.folder)

    assert first == same != ""
    assert rest_word(workspace.site) not in {"", first}


def test_no_word_while_a_box_runs(copy_desk):
    """It may write at any moment."""
    workspace, prepared = copy_desk.begin()
    note_writer(workspace.site.folder)
    with running_box(copy_desk.engine, prepared):
        await_rest(workspace.site, patience_s=0.05)

        assert rest_word(workspace.site) == ""
    await_rest(workspace.site)
    assert rest_word(workspace.site)


def test_note_that_cannot_be_written_is_an_error(tmp_path):
    """Else an old word would stand for the new box."""
    with pytest.raises(WorkspaceError, match="cannot be noted"):
        note_writer(tmp_path / "nowhere")


def test_volume_is_read_again_only_after_a_new_word(copy_desk):
    """What a box wrote is found by the word that its harness noted, and by nothing else."""
    workspace, prepared = copy_desk.begin()
    note_writer(workspace.site.folder)
    play_box(copy_desk.engine, prepared, "echo 1 > one; echo 2 > app.py; rm old/a.txt")
    seen = copy_desk.look(workspace)
    play_box(copy_desk.engine, prepared, "echo 2 > two")
    unread = copy_desk.look(workspace)
    note_writer(workspace.site.folder)

    assert set(by_path(seen)) == {"one", "app.py", "old/a.txt"}
    assert unread == seen
    assert set(by_path(copy_desk.look(workspace))) == {"one", "two", "app.py", "old/a.txt"}


def test_what_a_box_wrote_after_a_look_is_kept_when_all_of_that_is_applied(copy_desk):
    """The workspace is looked at again before it counts as empty."""
    workspace, prepared = copy_desk.begin()
    note_writer(workspace.site.folder)
    play_box(copy_desk.engine, prepared, "echo 1 > one")
    shown = copy_desk.look(workspace)
    note_writer(workspace.site.folder)
    play_box(copy_desk.engine, prepared, "echo 2 > two")

    applied = copy_desk.apply(workspace, shown)

    assert applied.complete
    assert not applied.nothing_left
    assert set(by_path(copy_desk.look(workspace))) == {"two"}


def test_workspace_that_rests_is_empty_once_all_is_applied(copy_desk):
    """Without another reading; it is gone with its volume."""
    workspace, prepared = copy_desk.begin()
    note_writer(workspace.site.folder)
    play_box(copy_desk.engine, prepared, "echo 1 > one; echo 2 > app.py; rm -r old; mkdir -p a/b")

    applied = copy_desk.take(workspace)

    assert applied.nothing_left
    named = {"name": workspace.site.record.volume}
    assert not copy_desk.engine.api.volumes(filters=named)["Volumes"]
    assert (copy_desk.project / "a/b").is_dir()
