from __future__ import annotations

import os
import resource
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from replace import make_folders, replace

from tests.support.boxed_files import names_in


def replace_in(folder: Path, name: str, data: bytes) -> None:
    handle = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        path = folder / name
        old = os.lstat(path) if path.exists() else None
        replace(handle, name.encode(), data, old=old)
    finally:
        os.close(handle)


def in_child(act: Callable[[], None]) -> int:
    """Run in a child process whose limits and uid may change; return its exit code."""
    pid = os.fork()
    if pid == 0:
        try:
            act()
        except OSError as error:
            os._exit(error.errno or 1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def limit_file_size(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_new_file_gets_the_usual_mode(tmp_path: Path) -> None:
    """The umask decides, as for any program."""
    replace_in(tmp_path, "a", b"x")

    mask = os.umask(0o022)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("mode", [0o755, 0o640, 0o600, 0o664])
def test_mode_is_kept(tmp_path: Path, mode: int) -> None:
    """Replacing content changes nothing else."""
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(mode)

    replace_in(tmp_path, "a", b"new")

    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode
    assert (tmp_path / "a").read_bytes() == b"new"


def test_set_id_bits_are_dropped(tmp_path: Path) -> None:
    """New content does not inherit another one's privilege."""
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o6755)

    replace_in(tmp_path, "a", b"new")

    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755


def test_replacing_leaves_no_draft(tmp_path: Path) -> None:
    """Only the file itself is left."""
    (tmp_path / "a").write_bytes(b"old")

    replace_in(tmp_path, "a", b"new")

    assert names_in(tmp_path) == ["a"]


def test_failed_write_keeps_the_old_content_and_leaves_no_draft(tmp_path: Path) -> None:
    """No room for the new content is no reason to lose the old one."""
    (tmp_path / "a").write_bytes(b"old")

    def act() -> None:
        limit_file_size(4096)
        replace_in(tmp_path, "a", b"n" * 10_000)

    assert in_child(act) != 0
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names_in(tmp_path) == ["a"]


def as_plain_user(folder: Path) -> None:
    """Own the folder's path up to /tmp and become a user without privilege."""
    if os.geteuid() != 0:
        return
    for path in (folder, *folder.parents):
        if path == Path("/tmp"):
            break
        path.chmod(path.stat().st_mode | 0o011)
    os.setgroups([])
    os.setgid(54321)
    os.setuid(54321)


def test_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    """A rename would go past the file's own mode."""
    file = tmp_path / "a"
    file.write_bytes(b"old")
    if os.geteuid() == 0:
        os.chown(tmp_path, 54321, 54321)
        os.chown(file, 54321, 54321)
    file.chmod(0o444)

    def act() -> None:
        as_plain_user(tmp_path)
        replace_in(tmp_path, "a", b"new")

    assert in_child(act) != 0
    assert file.read_bytes() == b"old"


def test_directory_that_takes_no_new_file_is_written_in_place(tmp_path: Path) -> None:
    """Where no draft can lie the file itself is written."""
    folder = tmp_path / "closed"
    folder.mkdir()
    file = folder / "a"
    file.write_bytes(b"old and longer")
    if os.geteuid() == 0:
        os.chown(folder, 54321, 54321)
        os.chown(file, 54321, 54321)
    folder.chmod(0o555)
    before = file.stat().st_ino

    def act() -> None:
        as_plain_user(folder)
        replace_in(folder, "a", b"new")

    code = in_child(act)
    folder.chmod(0o755)

    assert code == 0
    assert file.read_bytes() == b"new"
    assert file.stat().st_ino == before


def test_failed_write_in_place_puts_the_old_content_back(tmp_path: Path) -> None:
    """In place, too, all or nothing."""
    folder = tmp_path / "closed"
    folder.mkdir()
    file = folder / "a"
    file.write_bytes(b"old")
    if os.geteuid() == 0:
        os.chown(folder, 54321, 54321)
        os.chown(file, 54321, 54321)
    folder.chmod(0o555)

    def act() -> None:
        as_plain_user(folder)
        limit_file_size(4096)
        replace_in(folder, "a", b"n" * 10_000)

    code = in_child(act)
    folder.chmod(0o755)

    assert code != 0
    assert file.read_bytes() == b"old"


def test_folders_are_made_one_beneath_the_other(tmp_path: Path) -> None:
    """A handle of the last one comes back."""
    start = os.open(tmp_path, os.O_PATH)
    last = make_folders(start, (b"a", b"b"))
    try:
        assert os.path.samestat(os.fstat(last), (tmp_path / "a" / "b").stat())
    finally:
        os.close(start)
        os.close(last)


def test_link_in_the_place_of_a_new_folder_is_not_followed(tmp_path: Path) -> None:
    """What was swapped in since the walk is an error."""
    (tmp_path / "out").mkdir()
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "a").symlink_to(tmp_path / "out")
    start = os.open(tmp_path / "ws", os.O_PATH)
    try:
        with pytest.raises(OSError, match="Not a directory"):
            make_folders(start, (b"a", b"b"))
    finally:
        os.close(start)
    assert names_in(tmp_path / "out") == []
