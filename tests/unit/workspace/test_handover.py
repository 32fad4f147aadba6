from __future__ import annotations

import os
import stat
from pathlib import Path

import anyio
import pytest

from orchestrator.engine.lease import Lease
from orchestrator.errors import WorkspaceError
from orchestrator.workspace.handover import (
    apply_changes,
    discard_changes,
    drop_emptied,
    read_changes,
)
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.record import LEASE
from tests.support.workspaces import PLAIN_UID, by_path, play_box, running_box

pytestmark = pytest.mark.docker

EVERYTHING = r"""
printf 'print(2)\n' > app.py; chmod 755 run.sh; rm -r old; mkdir -p new/deep
printf 'fresh' > new/deep/file; mv src/mod.py src/moved.py; ln -sfn src/moved.py link
mkdir empty; printf '\0\1' > blob; chmod 4711 blob
"""


def test_every_kind_of_change_is_brought_back(any_desk):
    """What the box did is what the host gets, modes and links included, and nothing else moves."""
    workspace = any_desk.work(EVERYTHING)
    project = any_desk.project
    secret = (project / "src/.env").read_text()

    applied = any_desk.take(workspace)

    assert applied.complete
    assert applied.nothing_left
    assert (project / "app.py").read_text() == "print(2)\n"
    assert stat.S_IMODE((project / "run.sh").stat().st_mode) & 0o111 == 0o111
    assert not (project / "old").exists()
    assert (project / "new/deep/file").read_text() == "fresh"
    assert not (project / "src/mod.py").exists()
    assert (project / "src/moved.py").read_text() == "x = 1\n"
    assert (project / "link").readlink() == Path("src/moved.py")
    assert (project / "empty").is_dir()
    assert stat.S_IMODE((project / "blob").stat().st_mode) == 0o711
    assert (project / "src/.env").read_text() == secret
    assert sorted(p.name for p in project.iterdir() if p.name.startswith(".g")) == [".git"]


def test_changes_are_named_by_kind(any_desk):
    """The list tells additions, deletions, moves, modes and dropped bits apart."""
    changes = by_path(any_desk.look(any_desk.work(EVERYTHING)))

    kinds = {path: change.kind for path, change in changes.items()}
    assert kinds == {
        "app.py": "modified",
        "blob": "added",
        "empty": "added",
        "link": "modified",
        "new/deep/file": "added",
        "old": "deleted",
        "old/a.txt": "deleted",
        "old/b.txt": "deleted",
        "run.sh": "mode",
        "src/mod.py": "deleted",
        "src/moved.py": "added",
    }
    assert changes["src/moved.py"].renamed_from == "src/mod.py"
    assert changes["blob"].new.binary
    assert "set-user-id" in changes["blob"].notes[0]


def test_applied_files_belong_to_the_directorys_owner(any_desk):
    """Nothing of root appears in a person's project."""
    any_desk.take(any_desk.work("echo x > made; echo y >> app.py; mkdir -p d/e; echo z > d/e/f"))

    for name in ("made", "app.py", "d", "d/e", "d/e/f"):
        owner = (any_desk.project / name).stat().st_uid
        assert owner == (PLAIN_UID if os.geteuid() == 0 else os.geteuid())


def test_untouched_workspace_has_no_changes(any_desk):
    """Reading is no change, and neither is a touch."""
    assert not any_desk.look(
        any_desk.work("cat app.py; touch app.py; chmod 600 run.sh; chmod 644 run.sh")
    )


def test_host_edit_is_a_conflict_and_nothing_is_applied(any_desk):
    """A change that would overwrite the person's own stops the whole apply."""
    workspace = any_desk.work("echo box >> app.py; echo new > other")
    (any_desk.project / "app.py").write_text("mine\n")

    with pytest.raises(WorkspaceError, match="1 of 2 changes conflict") as caught:
        any_desk.take(workspace)

    assert "--skip-conflicts" in caught.value.hint
    assert (any_desk.project / "app.py").read_text() == "mine\n"
    assert not (any_desk.project / "other").exists()


def test_skipped_conflict_stays_and_the_rest_is_applied(any_desk):
    """--skip-conflicts brings what can be brought and keeps the other in the box."""
    workspace = any_desk.work("echo box >> app.py; echo new > other; rm old/a.txt")
    (any_desk.project / "app.py").write_text("mine\n")
    (any_desk.project / "old/a.txt").write_text("mine too\n")

    applied = any_desk.take(workspace, Selection(skip_conflicts=True))

    assert applied.complete
    assert [item.path for item in applied.left] == ["app.py", "old/a.txt"]
    assert (any_desk.project / "app.py").read_text() == "mine\n"
    assert (any_desk.project / "old/a.txt").read_text() == "mine too\n"
    assert (any_desk.project / "other").read_text() == "new\n"
    assert set(by_path(any_desk.look(workspace))) == {"app.py", "old/a.txt"}


@pytest.mark.parametrize(
    ("box", "host", "reason"),
    [
        ("echo x >> app.py", lambda p: (p / "app.py").unlink(), "deleted on the host"),
        ("echo x > fresh", lambda p: (p / "fresh").write_text("host"), "host since"),
        ("rm app.py", lambda p: (p / "app.py").write_text("host"), "changed on the host"),
        ("ln -sfn run.sh link", lambda p: _relink(p / "link"), "changed on the host"),
    ],
    ids=["deleted", "appeared", "edited", "relinked"],
)
def test_each_way_the_host_can_move_on_is_a_conflict(any_desk, box, host, reason):
    """Whatever the person did meanwhile is kept."""
    workspace = any_desk.work(box)
    host(any_desk.project)

    changes = any_desk.look(workspace)

    assert len(changes.conflicts) == 1
    assert reason in changes.conflicts[0].conflict


def _relink(link) -> None:
    link.unlink()
    link.symlink_to("src")


def test_same_edit_on_both_sides_is_no_change(any_desk):
    """What the host has already need not be applied."""
    workspace = any_desk.work("printf same > app.py; rm old/a.txt")
    (any_desk.project / "app.py").write_text("same")
    (any_desk.project / "old/a.txt").unlink()

    assert not any_desk.look(workspace).changes


def test_second_session_sees_the_first_ones_apply_as_a_conflict(any_desk):
    """Two sessions on one directory never overwrite each other."""
    first = any_desk.work("echo first >> app.py")
    second = any_desk.work("echo second >> app.py")
    any_desk.take(first)

    with pytest.raises(WorkspaceError, match="changed on the host"):
        any_desk.take(second)

    assert "second" not in (any_desk.project / "app.py").read_text()


def test_session_that_goes_on_after_an_apply_has_no_conflict_with_itself(any_desk):
    """Its own apply is the new base; a later host edit of the same file still conflicts."""
    workspace, prepared = any_desk.begin()
    play_box(any_desk.engine, prepared, "echo one >> app.py; echo keep > .envrc")
    any_desk.take(workspace)
    _, prepared = any_desk.begin(workspace.site.record.session)
    play_box(any_desk.engine, prepared, "echo two >> app.py; cat app.py")

    assert any_desk.take(workspace, Selection(("app.py",))).complete
    assert (any_desk.project / "app.py").read_text() == "print('one')\none\ntwo\n"

    _, prepared = any_desk.begin(workspace.site.record.session)
    play_box(any_desk.engine, prepared, "echo three >> app.py")
    (any_desk.project / "app.py").write_text("mine\n")
    assert by_path(any_desk.look(workspace))["app.py"].conflict


def test_protected_path_needs_its_own_yes(any_desk):
    """A protected path is applied with --include-protected alone, and said."""
    workspace = any_desk.work("echo boom > .envrc; echo x > plain")

    applied = any_desk.take(workspace)

    assert not applied.complete
    assert [(item.path, item.asked_for) for item in applied.left] == [(".envrc", False)]
    assert not (any_desk.project / ".envrc").exists()
    assert any_desk.take(workspace, Selection(include_protected=True)).nothing_left
    assert (any_desk.project / ".envrc").read_text() == "boom\n"


def test_hidden_file_is_absent_and_can_neither_be_made_nor_deleted(any_desk):
    """The box sees no .env, its own is not applied, and a directory that holds one stays."""
    script = "! test -e .env && ! test -e src/.env && echo evil > .env && rm -r src"
    workspace = any_desk.work(script)

    applied = any_desk.take(workspace)

    left = {item.path: item.reason for item in applied.left}
    assert "hides" in left[".env"]
    assert "never saw" in left["src"]
    assert (any_desk.project / ".env").read_text() == "SECRET=1\n"
    assert (any_desk.project / "src/.env").read_text() == "SECRET=2\n"
    assert not (any_desk.project / "src/mod.py").exists()


def test_changes_inside_git_stay_in_the_box(any_desk):
    """Commits and hooks are counted, warned of, and never written to the host."""
    before = (any_desk.project / ".git/config").read_text()
    script = r"mkdir .git/hooks; echo evil > .git/hooks/pre-commit; printf '[core]\n\tfsmonitor = ./x\n' >> .git/config"
    workspace = any_desk.work(script)

    changes = any_desk.look(workspace)

    assert changes.changes == ()
    assert changes.inside_git == 2
    assert "core.fsmonitor = ./x" in changes.notes[0]
    assert not any_desk.take(workspace).nothing_left
    assert (any_desk.project / ".git/config").read_text() == before
    assert not (any_desk.project / ".git/hooks").exists()


def test_running_box_can_be_looked_at_but_not_applied(any_desk):
    """Apply and discard wait for the end of the box; a look pauses it and lets it go on."""
    workspace, prepared = any_desk.begin()
    api = any_desk.engine.api
    with running_box(any_desk.engine, prepared, "echo x > seen; exec sleep 60") as container:
        while not any_desk.look(workspace):
            pass
        assert api.inspect_container(container)["State"]["Status"] == "running"
        with pytest.raises(WorkspaceError, match="still runs"):
            any_desk.take(workspace)
        with pytest.raises(WorkspaceError, match="still runs"):
            anyio.run(discard_changes, workspace)
    assert any_desk.take(workspace).nothing_left


def test_discard_leaves_nothing_behind(any_desk):
    """Volume and state are gone, the host's directory is as it was."""
    workspace = any_desk.work("rm -r old; echo x > app.py; mkdir -m 000 shut")
    name = workspace.site.record.volume

    anyio.run(discard_changes, workspace)

    assert not workspace.site.folder.exists()
    assert any_desk.engine.api.volumes(filters={"name": name})["Volumes"] in (None, [])
    assert (any_desk.project / "old/a.txt").read_text() == "a\n"


def test_content_that_changed_after_the_look_is_not_applied(any_desk):
    """A yes holds for what was shown."""
    workspace, prepared = any_desk.begin()
    play_box(any_desk.engine, prepared, "echo harmless > tool.sh; echo x > z")
    shown = anyio.run(read_changes, workspace)
    play_box(any_desk.engine, prepared, "echo harmful! > tool.sh")
    anyio.run(read_changes, workspace)

    with pytest.raises(WorkspaceError, match=r"changed after|No such file"):
        anyio.run(apply_changes, workspace, shown, Selection())

    assert not (any_desk.project / "tool.sh").exists()
    assert not (any_desk.project / "z").exists()


def test_file_that_becomes_a_directory_and_back_is_applied(any_desk):
    """A change of type takes away what stood there first."""
    script = "rm app.py; mkdir app.py; echo in > app.py/x; rm -r old; echo flat > old; rm link; mkdir link"
    workspace = any_desk.work(script)

    assert any_desk.take(workspace).nothing_left
    assert (any_desk.project / "app.py/x").read_text() == "in\n"
    assert (any_desk.project / "old").read_text() == "flat\n"
    assert (any_desk.project / "link").is_dir()
    assert not (any_desk.project / "link").is_symlink()


def test_edit_after_an_apply_is_the_persons_own(any_desk):
    """An applied file is no change any more, whatever becomes of it on the host."""
    workspace = any_desk.work("echo box >> app.py; echo x > made; rm old/a.txt; echo p > .envrc")
    any_desk.take(workspace)
    (any_desk.project / "app.py").write_text("mine\n")
    (any_desk.project / "made").unlink()
    (any_desk.project / "old/a.txt").write_text("back\n")

    assert set(by_path(any_desk.look(workspace))) == {".envrc"}


def test_more_than_the_budget_comes_out_but_for_what_is_too_much(any_desk):
    """Its call was ended a bit late; what stays says so, and nothing of the host looks deleted."""
    workspace, prepared = any_desk.begin(disk_bytes=1)
    script = "echo box >> app.py; rm old/a.txt; for n in 1 2 3; do truncate -s 400M big$n; done"
    play_box(any_desk.engine, prepared, script)

    applied = any_desk.take(workspace, Selection(globs=("app.py", "old/**")))
    rest = any_desk.look(workspace)

    assert applied.complete
    assert (any_desk.project / "app.py").read_text().endswith("box\n")
    assert not (any_desk.project / "old/a.txt").exists()
    assert (any_desk.project / "old/b.txt").exists()
    (left,) = [change for change in rest.changes if change.refused]
    assert "it is left in the box" in left.refused
    assert {change.path for change in rest.changes} == {"big1", "big2", "big3"}


def test_emptied_workspace_stays_while_its_session_goes_on(any_desk):
    """A box that came up after the apply keeps its files; so does one that is to come up."""
    workspace, prepared = any_desk.begin()
    play_box(any_desk.engine, prepared, "echo x > made")
    applied = anyio.run(apply_changes, workspace, any_desk.look(workspace), Selection())
    assert applied.nothing_left

    with running_box(any_desk.engine, prepared):
        anyio.run(drop_emptied, workspace, applied)
    assert workspace.site.folder.exists()
    lease = Lease.take(workspace.site.folder / LEASE)
    anyio.run(drop_emptied, workspace, applied)
    assert workspace.site.folder.exists()
    lease.close()
    play_box(any_desk.engine, prepared, "echo x > later")
    anyio.run(drop_emptied, workspace, applied)
    assert set(by_path(any_desk.look(workspace))) == {"later"}
