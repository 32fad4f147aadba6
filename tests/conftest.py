"""What the tests that need an engine share: the engine, the sandbox image, a stage for boxes."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.engine.client import Engine, connect
from orchestrator.engine.images import ensure_sandbox_image
from tests.support.boxes import Stage
from tests.support.outing import Outing
from tests.support.workspaces import drop_homes, drop_workspaces

USUAL_S = 120.0
"""``timeout`` of pyproject.toml."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that are given more time than others, so that no worker ends with one."""
    items.sort(key=_time_given, reverse=True)


def _time_given(item: pytest.Item) -> float:
    marker = item.get_closest_marker("timeout")
    return max(USUAL_S, *marker.args) if marker else USUAL_S


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A real engine; a test that asks for it fails where none answers."""
    engine = connect()
    yield engine
    drop_homes(engine, tmp_path_factory.getbasetemp())
    engine.close()


@pytest.fixture(scope="session")
def sandbox_image(engine: Engine) -> str:
    """The sandbox image of the present sources, built where it lacks."""
    return ensure_sandbox_image(engine, lambda _line: None).name


@pytest.fixture(scope="session")
def runtime_directory() -> Iterator[Path]:
    """A short directory: a socket's path may not be long, and pytest's are."""
    with tempfile.TemporaryDirectory(prefix="gb-") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def stage(engine: Engine, sandbox_image: str, runtime_directory: Path) -> Stage:
    """Where scenes with a real box are played."""
    return Stage(engine, sandbox_image, runtime_directory)


@pytest.fixture
def outing(tmp_path: Path, sandbox_image: str) -> Iterator[Outing]:  # noqa: ARG001 - it must be there
    """A run in a real box, with a world outside that belongs to the test."""
    made = Outing(tmp_path)
    yield made
    drop_workspaces(made.paths)
