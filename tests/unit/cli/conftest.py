"""A world of its own for commands that are run as a person runs them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.config.paths import Paths
from orchestrator.engine.base_image import ensure_base
from orchestrator.engine.client import connect
from orchestrator.engine.images import ensure_sandbox_image
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
