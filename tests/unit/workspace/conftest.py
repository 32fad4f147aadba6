"""A project with a bit of everything, and desks for the modes that bring changes back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.config.paths import Paths
from orchestrator.engine.base_image import ensure_base
from orchestrator.engine.client import Engine, connect
from tests.support.workspaces import Desk, give, write


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """The real engine, with an image that copiers can be made from."""
    with closing(connect()) as found:
        ensure_base(found, lambda _: None)
        yield found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory of a plain user."""
    root = tmp_path / "project"
    write(
        root,
        {
            "app.py": "print('one')\n",
            "run.sh": "#!/bin/sh\n",
            "old/a.txt": "a\n",
            "old/b.txt": "b\n",
            "src/mod.py": "x = 1\n",
            ".env": "SECRET=1\n",
            "src/.env": "SECRET=2\n",
            ".git/config": "[core]\n\tbare = false\n",
            ".git/HEAD": "ref: refs/heads/main\n",
        },
    )
    (root / "link").symlink_to("app.py")
    give(root)
    return root


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "state", tmp_path / "config")


@pytest.fixture
def desk(engine: Engine, paths: Paths, project: Path) -> Iterator[Desk]:
    """Sessions by overlay."""
    made = Desk(engine, paths, project)
    yield made
    made.clean()


@pytest.fixture(params=["overlay", "copy"])
def any_desk(desk: Desk, request: pytest.FixtureRequest) -> Desk:
    """Sessions by each mode that brings changes back; both must behave alike."""
    desk.mode = request.param
    return desk
