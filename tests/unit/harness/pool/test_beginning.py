"""A session begins its project's pool only where the user wants one, and never fails by it."""

import tempfile
from pathlib import Path

import pytest

from orchestrator.config.settings import PoolSettings
from orchestrator.harness.pool.beginning import begin_pool


@pytest.fixture
def runtime(monkeypatch):
    # A short one: the path of a socket may not be long.
    with tempfile.TemporaryDirectory(prefix="gb-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder, "glovebox")


@pytest.mark.parametrize(
    ("size", "mode", "more"),
    [(0, "overlay", {}), (1, "copy", {}), (1, "none", {}), (1, "overlay", {"resume": "abc"})],
)
def test_no_pool_is_begun_that_nobody_wants_or_could_use(
    options, paths, runtime, size, *, mode, more
):
    """Not even its directory is made."""
    settings = PoolSettings(size=size)

    begin_pool(options(**more), settings, paths, mode=mode, note=pytest.fail)

    assert not runtime.exists()


def test_pool_that_cannot_be_started_is_told(options, paths, runtime):
    """The session itself goes on."""
    runtime.mkdir(mode=0o755)
    runtime.chmod(0o755)
    notes = []

    begin_pool(options(), PoolSettings(size=1), paths, mode="overlay", note=notes.append)

    assert "no warm pool" in notes[0]
    assert "0700" in notes[0]
