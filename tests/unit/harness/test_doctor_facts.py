import os
from pathlib import Path

import pytest

from orchestrator.config.paths import Paths
from orchestrator.harness.doctor_facts import gather, look_at_folder


def paths(root: Path) -> Paths:
    return Paths(state=root / "state", config=root / "config")


def test_folder_to_come_is_judged_by_its_parent(tmp_path: Path):
    """A folder that does not exist is writable where its nearest parent is."""
    found = look_at_folder(tmp_path / "a" / "b")

    assert (found.exists, found.unwritable, found.own) == (False, "", True)
    assert found.free > 0


def test_open_folder_shows_its_mode(tmp_path: Path):
    """The permission bits are those on disk."""
    folder = tmp_path / "state"
    folder.mkdir()
    folder.chmod(0o755)

    assert look_at_folder(folder).mode == 0o755


def test_look_leaves_nothing_behind(tmp_path: Path):
    """The trial write is gone afterwards, and missing folders stay missing."""
    look_at_folder(tmp_path)
    look_at_folder(tmp_path / "new" / "state")

    assert list(tmp_path.iterdir()) == []


def test_unwritable_folder_says_why():
    """A file system that takes no files is found by trying, not by permission bits."""
    found = look_at_folder(Path("/proc/self"))

    assert found.unwritable.startswith("/proc/self: ")


def test_missing_engine_is_a_fact(tmp_path: Path):
    """The doctor goes on without an engine and keeps the client's hint."""
    facts = gather(paths(tmp_path), {}, engine_url=f"unix://{tmp_path}/none.sock")

    assert facts.engine.info is None
    assert "no container engine answers" in facts.engine.failure
    assert "setup-engine.sh" in facts.engine.hint
    assert facts.engine_free is None


def test_keys_are_named_and_never_shown(tmp_path: Path):
    """The facts hold the names of providers with a key, not the keys."""
    environ = {"ANTHROPIC_API_KEY": "planted-secret-value", "OPENAI_API_KEY": ""}
    facts = gather(paths(tmp_path), environ, engine_url=f"unix://{tmp_path}/none.sock")

    assert facts.keys == ("anthropic",)
    assert "planted-secret-value" not in repr(facts)


@pytest.mark.docker
def test_running_engine_is_looked_at(tmp_path: Path):
    """The real engine and the real kernel give facts that the checks can use."""
    facts = gather(paths(tmp_path), os.environ)

    assert facts.engine.failure == ""
    assert facts.engine.info is not None
    assert facts.engine.image.startswith("glovebox/sandbox:")
    assert facts.overlay
    assert facts.openat2
    assert facts.kernel == os.uname().release
