"""A world of its own for commands that are run as a person runs them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.config.paths import Paths, project_slug
from orchestrator.engine.base_image import ensure_base
from orchestrator.engine.client import connect
from orchestrator.engine.images import ensure_sandbox_image
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import SessionId
from orchestrator.schema.message import Text, UserMessage
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore
from tests.support import warm
from tests.support.shell import Shell
from tests.support.workspaces import Desk, drop_homes, drop_workspaces, give, write
from tests.support.world import World


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The image of this version, on the real engine."""
    engine = connect()
    try:
        yield ensure_sandbox_image(engine, lambda _: None).name
    finally:
        drop_homes(engine, tmp_path_factory.getbasetemp())
        engine.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """State, configuration and a project of one file; what is left in the engine is dropped."""
    made = World(tmp_path)
    made.project.mkdir()
    (made.project / "notes.txt").write_text("one\ntwo\n")
    give(made.project)
    yield made
    drop_workspaces(Paths(made.state, tmp_path))


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """The command line over a project of two files, with boxes that are played."""
    project = tmp_path / "project"
    write(project, {"a.txt": "one\n", "sub/b.txt": "b\n"})
    give(project)
    with closing(connect()) as engine:
        ensure_base(engine, lambda _: None)
        desk = Desk(engine, Paths(tmp_path / "state", tmp_path / "config"), project)
        yield Shell(desk, tmp_path)
        desk.clean()


@pytest.fixture
def glovebox(tmp_path):
    """Runs the command with a clean configuration in an empty directory."""

    def run(*arguments: str, stdin: str = ""):
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": str(Path(__file__).parents[3]),
            "GLOVEBOX_CONFIG": str(tmp_path / "config"),
        }
        return warm.run(arguments, cwd=tmp_path, env=environ, stdin=stdin)

    return run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def session(tmp_path: Path, project: Path) -> Path:
    """A session with two branches, the second of them current."""
    path = tmp_path / "state" / "sessions" / project_slug(project)
    header = SessionHeader(SessionId("0123456789ab"), str(project), "2026-01-02T03:04:05Z")
    with SessionStore.create(path / "20260102T030405_0123456789ab.jsonl", header) as store:
        first = say(store, "mend \x1b[2J the \u202e test")
        say(store, "left branch")
        store.append("message", encode_message(UserMessage((Text("right branch"),))), parent=first)
        return store.path


def say(store: SessionStore, text: str):
    return store.append("message", encode_message(UserMessage((Text(text),))))


@pytest.fixture
def sessions(tmp_path: Path, project: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: str, cwd: Path = project) -> subprocess.CompletedProcess[str]:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": str(Path(__file__).parents[3]),
            "GLOVEBOX_STATE": str(tmp_path / "state"),
        }
        return warm.run(["sessions", *arguments], env=environ, cwd=cwd)

    return run
