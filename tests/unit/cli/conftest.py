"""A world of its own for commands that are run as a person runs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.config.paths import Paths
from orchestrator.engine.client import connect
from orchestrator.engine.images import ensure_sandbox_image
from tests.support.workspaces import drop_homes, drop_workspaces, give
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
