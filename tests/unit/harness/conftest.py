"""A real engine with the sandbox image, and a front door that keeps what it is told."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.config.paths import Paths
from orchestrator.confirmation.channels import Channel
from orchestrator.engine.client import Engine, connect
from orchestrator.engine.images import ensure_sandbox_image
from orchestrator.harness.options import RunOptions
from orchestrator.schema.event import (
    Observer,
)
from orchestrator.schema.event_base import Event
from tests.support.engine_proxy import EngineProxy, engine_proxy
from tests.support.workspaces import drop_homes, drop_workspaces, give


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The real engine, with the image of this version."""
    with closing(connect()) as found:
        ensure_sandbox_image(found, lambda _: None)
        yield found
        drop_homes(found, tmp_path_factory.getbasetemp())


@pytest.fixture
def proxy(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Iterator[EngineProxy]:
    """The only way of this test to the engine, which it may cut."""
    # A kept record would keep the failure's frames, and their sockets, beyond the test.
    caplog.set_level("ERROR", logger="urllib3")
    with tempfile.TemporaryDirectory(prefix="gb-") as folder, engine_proxy(Path(folder)) as found:
        monkeypatch.setenv("DOCKER_HOST", found.url)
        yield found
        monkeypatch.undo()
        # The SDK leaves its socket to the collector where it could not connect; see SDK_LEAVES.
        gc.collect()


@pytest.fixture
def paths(tmp_path: Path) -> Iterator[Paths]:
    """Roots of a test's own; workspaces that it leaves in the engine are dropped."""
    made = Paths(tmp_path / "state", tmp_path / "config")
    yield made
    drop_workspaces(made)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory of a plain user with one file."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "notes.txt").write_text("one\ntwo\n")
    give(root)
    return root


@dataclass
class KeptFront:
    """A front door without a person; keeps events and notes."""

    events: list[Event] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    watch: Callable[[Event], None] = lambda _: None
    somebody: Channel | None = None

    def observer(self, session: str) -> Observer:  # noqa: ARG002 - the Protocol's form
        def keep(event: Event) -> None:
            self.events.append(event)
            self.watch(event)

        return keep

    def person(self) -> Channel | None:
        return self.somebody

    def note(self, text: str) -> None:
        self.notes.append(text)

    def of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def front() -> KeptFront:
    return KeptFront()


@pytest.fixture
def options(tmp_path: Path, project: Path) -> Callable[..., RunOptions]:
    """Return options of a run with a scripted model that says ``turns``."""

    def make(*turns: dict[str, Any], top: dict[str, Any] | None = None, **more: Any) -> RunOptions:
        path = tmp_path / "script.yaml"
        path.write_text(yaml.safe_dump({"version": 1, "turns": list(turns), **(top or {})}))
        given = {"prompt": "do it", "directory": project, "model": f"scripted:{path}"}
        return RunOptions(**(given | more))

    return make
