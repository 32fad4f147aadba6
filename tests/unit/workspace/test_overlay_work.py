"""Clearing what the kernel made as root; ``test_overlay`` discards real overlays."""

import os

import pytest

from orchestrator.workspace.overlay_work import clear_work


def test_no_work_directory_needs_no_engine(tmp_path):
    """A workspace that is no overlay, or one that was never mounted."""
    clear_work(tmp_path, engine=None, image="none", labels={})
    (tmp_path / "work").mkdir()
    clear_work(tmp_path, engine=None, image="none", labels={})

    assert (tmp_path / "work").is_dir()


@pytest.mark.docker
def test_locked_directory_goes_without_anything_running(tmp_path, engine, sandbox_image):
    """A plain user could not remove it; root needs no help, and is given none."""
    (tmp_path / "work/work").mkdir(parents=True)
    (tmp_path / "work/work").chmod(0)
    clear_work(tmp_path, engine=engine, image=sandbox_image, labels={})

    assert (tmp_path / "work/work").is_dir() == (os.geteuid() == 0)
