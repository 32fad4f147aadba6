import os
import time

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.bind import tidy_dead_binds
from tests.support.workspaces import play_box, write

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


def test_killed_session_s_placeholders_go_later(bind_desk):
    """Not at once: a session that is being prepared has no box yet either."""
    workspace, _ = bind_desk.begin()
    session = workspace.site.record.session

    assert tidy_dead_binds(bind_desk.paths, bind_desk.engine) == []
    assert (bind_desk.project / ".husky").is_dir()

    long_ago = time.time() - 3600
    os.utime(workspace.site.folder / "placeholders.json", (long_ago, long_ago))
    assert tidy_dead_binds(bind_desk.paths, bind_desk.engine) == [session]
    assert not (bind_desk.project / ".husky").exists()
