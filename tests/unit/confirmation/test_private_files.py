"""Small files that only this user may read or change."""

import fcntl
import os

import pytest

from orchestrator.confirmation import private_files
from orchestrator.confirmation.private_files import PrivateFolder
from orchestrator.errors import ConfigError


@pytest.fixture
def folder(tmp_path):
    return PrivateFolder(tmp_path / "deep" / "folder")


def test_nothing_is_made_by_looking(folder):
    """Only the first file makes the folder."""
    assert folder.names() == []
    assert folder.read("a") is None
    assert not folder.path.parent.exists()


def test_file_is_whole_or_not_there(folder):
    """No reader sees a part, and nothing unfinished is listed."""
    folder.write("a", b"one")
    folder.write("a", b"two")

    assert (folder.names(), folder.read("a")) == (["a"], b"two")
    assert [entry.name for entry in folder.path.iterdir()] == ["a"]
    folder.remove("a")
    folder.remove("a")
    assert folder.names() == []


def test_disk_that_takes_no_file_is_told(folder):
    """And nothing is left of the attempt."""
    folder.write("a", b"one")
    (folder.path / "b").mkdir()

    with pytest.raises(ConfigError, match="cannot be written"):
        folder.write("b", b"x")
    assert folder.names() == ["a", "b"]


def test_lock_keeps_others_out_until_its_end(folder):
    """Another process's try fails meanwhile."""
    with folder.locked():
        fd = os.open(folder.path / private_files.LOCK, os.O_RDWR)
        with pytest.raises(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(fd)


def test_file_of_any_length_is_not_read_whole(folder):
    """A question holds at most a file's content."""
    folder.write("a", b"x" * (private_files.MAX_BYTES + 1))

    with pytest.raises(ConfigError, match="at most"):
        folder.read("a")


def test_directory_in_a_files_place_is_no_answer(folder):
    """It is neither read nor taken for nothing."""
    folder.write("a", b"one")
    (folder.path / "b").mkdir(mode=0o700)

    with pytest.raises((ConfigError, IsADirectoryError)):
        folder.read("b")


def test_directory_in_a_file_s_place_is_named(folder):
    """Wherever it is met: read, removed, or in the place of the lock or of the folder itself."""
    folder.write("a", b"one")
    (folder.path / "b.json").mkdir()
    with pytest.raises(ConfigError, match=r"b\.json: expected a regular file, got d") as told:
        folder.read("b.json")
    assert "move it away" in told.value.hint
    with pytest.raises(ConfigError, match=r"b\.json: cannot be removed"):
        folder.remove("b.json")

    (folder.path / private_files.LOCK).unlink(missing_ok=True)
    (folder.path / private_files.LOCK).mkdir()
    with pytest.raises(ConfigError, match=r"\.lock: cannot be locked"), folder.locked():
        pass

    file = folder.path / "a"
    with pytest.raises(ConfigError, match="cannot be listed: Not a directory"):
        PrivateFolder(file).names()


def test_pipe_in_a_file_s_place_is_refused_at_once(folder):
    """Nothing waits for a writer."""
    folder.write("a", b"one")
    os.mkfifo(folder.path / "p.json", 0o600)

    with pytest.raises(ConfigError, match="expected a regular file, got p"):
        folder.read("p.json")
