"""Gone, or only out of sight."""

import os

import pytest

from orchestrator.workspace.presence import is_gone
from tests.support.workspaces import PLAIN_UID


@pytest.fixture
def as_plain_user():
    """Let a test of root do something without root's power to see everything."""

    def do(work):
        if os.geteuid() != 0:
            return work()
        os.seteuid(PLAIN_UID)
        try:
            return work()
        finally:
            os.seteuid(0)

    return do


def test_what_is_not_there_is_gone(tmp_path):
    """Also beneath a file, where nothing can be."""
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")

    assert is_gone(tmp_path / "missing")
    assert is_gone(tmp_path / "file/below")
    assert not is_gone(tmp_path / "file")
    assert not is_gone(tmp_path / "dangling")


def test_what_cannot_be_seen_is_not_gone(tmp_path, as_plain_user):
    """A closed directory says nothing of what is in it."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    try:
        assert not as_plain_user(lambda: is_gone(closed / "project"))
    finally:
        closed.chmod(0o700)
