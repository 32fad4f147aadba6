"""Starts that were killed before the session had a file: their workspaces are found and removed."""

import os
import secrets
import signal
import time

import pytest

from orchestrator.engine.volumes import folders_of_volumes
from orchestrator.harness.beginnings import Beginning, remove_unbegun
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.opening import prepare_workspace
from orchestrator.workspace.workspace import WorkspaceSpec

SESSION = SessionId(secrets.token_hex(6))

pytestmark = pytest.mark.docker


@pytest.fixture
def prepare(engine, paths, project, sandbox_image):
    def make():
        spec = WorkspaceSpec(SESSION, project, "copy", sandbox_image)
        prepare_workspace(spec, paths=paths, engine=engine)

    return make


def killed(work):
    """Do something in a process that is killed right after it."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


def test_workspace_of_a_killed_start_is_removed(engine, paths, prepare):
    """Folder and volume, whatever of them there is."""

    def begin():
        Beginning.announce(SESSION, paths)
        # A folder without a record is as far as a start may have come.
        paths.work(SESSION).mkdir(parents=True)

    killed(begin)
    prepare()
    assert paths.work(SESSION) in folders_of_volumes(engine).values()

    assert remove_unbegun(paths, engine) == [SESSION]
    assert paths.work(SESSION) not in folders_of_volumes(engine).values()
    assert list(paths.work(SESSION).parent.iterdir()) == []
    assert list(paths.beginnings.iterdir()) == []


def test_session_that_has_its_file_is_kept(engine, paths, prepare, project):
    """It was killed after that, and can be resumed."""
    killed(lambda: Beginning.announce(SESSION, paths))
    prepare()
    folder = paths.project_sessions(project)
    folder.mkdir(parents=True)
    (folder / f"20261130T120000_{SESSION}.jsonl").touch()

    assert remove_unbegun(paths, engine) == []
    assert paths.work(SESSION).exists()
    assert list(paths.beginnings.iterdir()) == []


def test_start_that_lives_is_let_be(engine, paths, prepare):
    """Another process sweeps while it works."""
    beginning = Beginning.announce(SESSION, paths)
    prepare()

    assert remove_unbegun(paths, engine) == []
    assert paths.work(SESSION).exists()

    beginning.over()
    assert list(paths.beginnings.iterdir()) == []


def test_start_that_failed_leaves_what_it_could_not_remove_to_a_sweep(engine, paths, prepare):
    """And takes itself back where nothing is left."""
    nothing = Beginning.announce(SESSION, paths)
    nothing.release()
    assert list(paths.beginnings.iterdir()) == []

    something = Beginning.announce(SESSION, paths)
    prepare()
    something.release()
    assert remove_unbegun(paths, engine) == [SESSION]


def test_file_without_its_name_goes_when_it_is_old(engine, paths):
    """A start was killed in between; a young one may be on its way."""
    paths.beginnings.mkdir(parents=True)
    young, old = paths.beginnings / ".a", paths.beginnings / ".b"
    young.touch()
    old.touch()
    os.utime(old, (time.time() - 3600,) * 2)

    assert remove_unbegun(paths, engine) == []
    assert list(paths.beginnings.iterdir()) == [young]
