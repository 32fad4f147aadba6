"""Gone, or only out of sight."""

from orchestrator.workspace.presence import is_gone
from tests.support.plain_user import as_plain_user


def test_what_is_not_there_is_gone(tmp_path):
    """Also beneath a file, where nothing can be."""
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")

    assert is_gone(tmp_path / "missing")
    assert is_gone(tmp_path / "file/below")
    assert not is_gone(tmp_path / "file")
    assert not is_gone(tmp_path / "dangling")


def test_what_cannot_be_seen_is_not_gone(tmp_path):
    """A closed directory says nothing of what is in it."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    try:
        assert not as_plain_user(lambda: is_gone(closed / "project"))
    finally:
        closed.chmod(0o700)
