import os

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.at_rest import note_writer
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.rewind import FileHistory
from orchestrator.workspace.snapshots_site import (
    after_apply,
    before_apply,
    open_snapshots,
    require_kept,
)
from orchestrator.workspace.snapshots_words import Moment
from tests.support.live_box import LiveBox
from tests.support.workspaces import by_path, give, play_box

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


def test_credential_that_the_box_never_saw_does_not_come_to_it_by_a_rewind(desk):
    """A masked file that was applied: going back shows what the box saw before, no more."""
    (desk.project / ".npmrc").write_text("//host.example/:_authToken=hunter2hunter2hunter2\n")
    give(desk.project)
    workspace, prepared = desk.begin()
    history = FileHistory(workspace)
    with LiveBox(desk.engine, prepared) as box:
        before = box.run("cat .npmrc")
        assert "hunter2" not in before
        history.take(Moment("start"))
        box.run("echo fund=false >> .npmrc; echo x > kept")
        history.take(Moment("turn", 1, "a"))
    desk.take(workspace, Selection(globs=(".npmrc",), include_protected=True))
    assert "hunter2" in (desk.project / ".npmrc").read_text()

    FileHistory(workspace).rewind(1, now=Moment("before", 1), then=Moment("rewound"))

    with LiveBox(desk.engine, desk.begin(workspace.site.record.session)[1]) as box:
        assert box.run("cat .npmrc") == before
    desk.begun.pop()


def test_start_of_a_fresh_copy_is_what_went_in(desk):
    """It is not read; a reading later finds nothing else, and the first change alone is told."""
    desk.mode = "copy"
    project = desk.project
    (project / ".npmrc").write_text("//host.example/:_authToken=hunter2hunter2hunter2\n")
    (project / "run.sh").chmod(0o4755)
    (project / "twin").hardlink_to(project / "run.sh")
    (project / "empty").mkdir(mode=0o2750)
    os.mkfifo(project / "pipe")
    give(project)
    os.utime(project / "app.py", (5.5, 5.5))
    os.utime(project / "empty", (-5.5, -5.5))
    workspace, prepared = desk.begin()
    note_writer(workspace.site.folder)
    history = FileHistory(workspace)

    started = history.take(Moment("start")).snapshot
    same = history.take(Moment("turn", 1, "a")).snapshot
    play_box(desk.engine, prepared, "echo x > kept")
    later = history.take(Moment("turn", 2, "b")).snapshot

    assert started.added > 5
    assert same is None
    assert later.paths == ("kept",)


@pytest.mark.parametrize(("boxes", "found"), [(0, True), (1, False), (2, True)])
def test_only_the_first_box_starts_with_what_went_in(desk, boxes, found):
    """Any other may have an earlier one's work before it, and is read."""
    desk.mode = "copy"
    workspace, prepared = desk.begin()
    play_box(desk.engine, prepared, "echo x > earlier")
    for _ in range(boxes):
        note_writer(workspace.site.folder)

    started = FileHistory(workspace).take(Moment("start")).snapshot

    assert ("earlier" in started.paths) == found
