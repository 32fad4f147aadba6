"""A world of its own for every end-to-end test."""

import subprocess

import pytest

from tests.support.world import GLOVEBOX, World


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    made.project.mkdir()
    (made.project / "notes.txt").write_text("one\ntwo\n")
    yield made
    subprocess.run([GLOVEBOX, "gc"], env=made.env(), capture_output=True, timeout=60, check=True)
