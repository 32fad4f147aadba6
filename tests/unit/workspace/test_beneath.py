import os
from pathlib import Path

import pytest

from orchestrator.workspace.beneath import (
    exchange,
    file_system_type,
    has_openat2,
    open_beneath,
    rename_new,
    sync_file_system,
)


@pytest.fixture
def fd(tmp_path: Path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").write_text("x")
    (tmp_path / "link").symlink_to("d")
    opened = os.open(tmp_path, os.O_RDONLY)
    yield opened
    os.close(opened)


@pytest.mark.parametrize("openat2", [True, False])
def test_plain_path_is_opened(fd, openat2):
    """Both ways of opening find what is beneath."""
    found = open_beneath(fd, "d/f", os.O_RDONLY, openat2=openat2)

    assert os.read(found, 9) == b"x"
    os.close(found)


@pytest.mark.parametrize("openat2", [True, False])
@pytest.mark.parametrize("path", ["link/f", "../x", "/etc/passwd", "d/../../x", "link", "a\0b"])
def test_path_that_leaves_or_passes_a_link_is_not(fd, path, openat2):
    """Neither way follows a link or climbs."""
    with pytest.raises(OSError, match=r"links|cross-device|Not a directory|NUL"):
        open_beneath(fd, path, os.O_RDONLY, openat2=openat2)


@pytest.mark.parametrize("openat2", [True, False])
def test_link_in_last_place_can_be_pointed_at(fd, openat2):
    """So that its target can be read without being followed."""
    found = open_beneath(fd, "link", os.O_PATH | os.O_NOFOLLOW, openat2=openat2)

    assert os.readlink("", dir_fd=found) == "d"
    os.close(found)


def test_kernel_is_asked_for_openat2(fd):
    """The answer is one that opening agrees with."""
    assert has_openat2(fd) is True


def test_rename_overwrites_nothing(fd, tmp_path):
    """A name that is taken stays."""
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")

    with pytest.raises(FileExistsError):
        rename_new("a", "b", src_fd=fd, dst_fd=fd)
    rename_new("a", "c", src_fd=fd, dst_fd=fd)
    assert ((tmp_path / "b").read_text(), (tmp_path / "c").read_text()) == ("b", "a")


def test_exchange_swaps_two_names(fd, tmp_path):
    """Both are there before and after, a file and a directory alike."""
    (tmp_path / "a").write_text("a")

    exchange("a", "d", src_fd=fd, dst_fd=fd)

    assert (tmp_path / "a/f").read_text() == "x"
    assert (tmp_path / "d").read_text() == "a"
    with pytest.raises(FileNotFoundError):
        exchange("a", "none", src_fd=fd, dst_fd=fd)


def test_file_system_is_synced_and_named(fd):
    """Success is silent, and failure an error of the system."""
    sync_file_system(fd)
    with pytest.raises(OSError, match="Bad file descriptor"):
        sync_file_system(-1)
    assert file_system_type(Path("/proc")) == 0x9FA0
    with pytest.raises(FileNotFoundError):
        file_system_type(Path("/none"))
