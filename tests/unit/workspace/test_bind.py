import os
import shutil
import time
from contextlib import nullcontext

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.bind import tidy_dead_binds
from tests.support.workspaces import give, play_box, write

pytestmark = pytest.mark.docker


@pytest.fixture
def bind_desk(desk):
    desk.mode = "bind"
    write(desk.project, {".git/hooks/pre-commit": "ok", ".vscode/settings.json": "{}"})
    return desk


def test_changes_are_live_and_hidden_files_empty(bind_desk):
    """The box writes to the host; what is hidden is covered."""
    _, prepared = bind_desk.begin()

    said = play_box(bind_desk.engine, prepared, "cat .env src/.env 2>&1 | wc -c; echo 2 > app.py")

    assert "SECRET" not in said
    assert (bind_desk.project / "app.py").read_text() == "2\n"
    assert "directly" in prepared.notices[0]


@pytest.mark.parametrize(
    "script",
    [
        "echo evil > .git/hooks/pre-commit",
        "rm .git/hooks/pre-commit",
        "echo evil > .git/hooks/post-checkout",
        "mv .git/hooks .git/away",
        "mv .git away && mkdir -p .git/hooks",
        "rm -rf .vscode",
        "echo evil > .vscode/tasks.json",
    ],
)
def test_protected_path_cannot_be_written_moved_or_shadowed(bind_desk, script):
    """Not even by way of the directory above it."""
    _, prepared = bind_desk.begin()

    play_box(bind_desk.engine, prepared, f"! {{ {script}; }}")

    assert (bind_desk.project / ".git/hooks/pre-commit").read_text() == "ok"
    assert (bind_desk.project / ".vscode/settings.json").read_text() == "{}"
    assert {p.name for p in (bind_desk.project / ".git/hooks").iterdir()} == {"pre-commit"}


def test_protected_path_that_appeared_is_told(bind_desk):
    """A mount cannot hold what is not there, so the person hears of it."""
    workspace, prepared = bind_desk.begin()
    play_box(bind_desk.engine, prepared, "echo evil > .envrc")

    changes = bind_desk.look(workspace)

    assert changes.notes == (".envrc: policy protects it, and it appeared during the session",)
    assert changes.changes == ()


def test_protected_link_refuses_the_mode(bind_desk):
    """A mount would land where the link points to."""
    (bind_desk.project / ".envrc").symlink_to("app.py")

    with pytest.raises(WorkspaceError, match="could be undone"):
        bind_desk.begin()


@pytest.mark.parametrize(
    "script",
    ["echo x > .husky/pre-commit", "mkdir -p .husky/_", "rm -rf .husky", "mv .husky away"],
)
def test_missing_protected_directory_is_held_before_it_exists(bind_desk, script):
    """An empty one stands there read-only, and is gone when the box is."""
    workspace, prepared = bind_desk.begin()
    assert (bind_desk.project / ".husky").is_dir()

    play_box(bind_desk.engine, prepared, f"! {{ {script}; }}")
    changes = bind_desk.look(workspace)

    assert changes.notes == ()
    assert not (bind_desk.project / ".husky").exists()


def test_placeholder_that_the_person_filled_stays(bind_desk):
    """Made on the host while the box ran."""
    workspace, _ = bind_desk.begin()
    write(bind_desk.project, {".husky/pre-commit": "mine"})

    notes = bind_desk.look(workspace).notes

    assert (bind_desk.project / ".husky/pre-commit").read_text() == "mine"
    assert notes == (".husky: policy protects it, and it appeared during the session",)


def test_failed_preparation_leaves_no_placeholder(bind_desk):
    """Nothing is half made on an error."""
    (bind_desk.project / ".envrc").symlink_to("app.py")

    with pytest.raises(WorkspaceError):
        bind_desk.begin()

    assert not (bind_desk.project / ".husky").exists()


def tidied(desk, resting):
    """Tidy as where a session's file is free (True), taken (False) or not there yet (None)."""
    return tidy_dead_binds(desk.paths, desk.engine, at_rest=lambda _: nullcontext(resting))


def test_killed_session_s_placeholders_go_once_nobody_has_it(bind_desk):
    """At once, but never under a living session's feet; what was filled stays."""
    workspace, _ = bind_desk.begin(protected=(".husky/**", ".devs/**"))
    session = workspace.site.record.session
    write(bind_desk.project, {".devs/mine": "x"})
    long_ago = time.time() - 3600
    os.utime(workspace.site.folder / "placeholders.json", (long_ago, long_ago))

    assert tidied(bind_desk, resting=False) == []
    assert (bind_desk.project / ".husky").is_dir()
    assert tidied(bind_desk, resting=True) == [session]
    assert not (bind_desk.project / ".husky").exists()
    assert (bind_desk.project / ".devs/mine").exists()
    assert tidied(bind_desk, resting=True) == []


def test_session_that_is_just_being_prepared_keeps_its_placeholders(bind_desk):
    """It has neither a file nor a box yet; one that was never more is old some day."""
    workspace, _ = bind_desk.begin()
    assert tidied(bind_desk, resting=None) == []

    long_ago = time.time() - 3600
    os.utime(workspace.site.folder / "placeholders.json", (long_ago, long_ago))
    assert tidied(bind_desk, resting=None) == [workspace.site.record.session]
    assert not (bind_desk.project / ".husky").exists()


def test_project_that_is_gone_has_nothing_to_tidy(bind_desk):
    """And spoils no sweep."""
    workspace, _ = bind_desk.begin()
    shutil.rmtree(bind_desk.project)

    assert tidied(bind_desk, resting=True) == []
    assert not (workspace.site.folder / "placeholders.json").exists()


def test_what_is_hidden_below_a_protected_directory_opens_none_of_it(bind_desk):
    """What keeps a hidden file's directory in place must not be writable where that is not."""
    write(bind_desk.project, {".vscode/deep/er/.env": "S3CRET", ".vscode/deep/er/task": "mine"})
    give(bind_desk.project)
    _, prepared = bind_desk.begin()

    said = play_box(
        bind_desk.engine,
        prepared,
        "cd .vscode/deep; cat er/.env; echo evil > er/task; touch new; mv er away; true",
    )

    assert "S3CRET" not in said
    assert (bind_desk.project / ".vscode/deep/er/task").read_text() == "mine"
    assert [path.name for path in (bind_desk.project / ".vscode/deep").iterdir()] == ["er"]


@pytest.mark.parametrize("name", [b"\xff/.env", b"\xff/.vscode/tasks.json"])
def test_name_that_the_engine_cannot_take_refuses_the_mode(bind_desk, name):
    """A mount would land on another name, and leave a secret or a task open."""
    write(bind_desk.project, {os.fsdecode(name): "S3CRET"})

    with pytest.raises(WorkspaceError, match="no UTF-8"):
        bind_desk.begin(protected=("**/.vscode/**",))
