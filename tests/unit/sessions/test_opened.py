"""A session's file is opened where it can be read whole, and refused in words where it cannot."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from orchestrator.sessions.opened import MAX_BYTES, opened_session, require_readable


def test_regular_file_is_opened(tmp_path: Path) -> None:
    """Its bytes are there to be read."""
    (tmp_path / "a").write_bytes(b"x")

    with opened_session(tmp_path / "a") as file:
        assert file.read() == b"x"


def test_larger_file_than_is_read_is_refused(tmp_path: Path) -> None:
    """The size alone is looked at."""
    (tmp_path / "a").touch()
    os.truncate(tmp_path / "a", MAX_BYTES + 1)

    with pytest.raises(OSError, match="expected at most") as told, opened_session(tmp_path / "a"):
        pass

    assert told.value.errno == errno.EFBIG
    require_readable(MAX_BYTES, tmp_path)


def test_link_is_refused(tmp_path: Path) -> None:
    """Nothing leads out of the folder of sessions."""
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "link").symlink_to("a")

    with pytest.raises(OSError, match="symbolic link"), opened_session(tmp_path / "link"):
        pass
