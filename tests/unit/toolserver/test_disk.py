import os
import tempfile
from pathlib import Path

import pytest
from config import Config, Limits
from disk import DiskUse

MIB = 1024**2


@pytest.fixture
def processes(tmp_path_factory):
    """None: those of this machine come and go as they like."""
    proc = tmp_path_factory.mktemp("proc")
    (proc / "net").symlink_to("/proc/net")
    return proc


@pytest.fixture
def folder():
    """On a disk: what is on a tmpfs is counted by its size alone."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        (Path(folder) / "before").write_bytes(bytes(4 * MIB))
        yield Path(folder)


@pytest.fixture
def start(folder, processes):
    """Return what begins to watch places, the first of them the workspace."""

    def start(*more, home="/h"):
        limits = Limits(1 << 30, 1 << 30, 1 << 30, 1 << 30)
        places = (str(folder), *map(str, more))
        config = Config(
            str(folder), str(home), "/s", (), places, 1, 1, {}, limits, exec_record=False
        )
        return DiskUse(config, proc=str(processes))

    return start


@pytest.fixture
def use(start):
    use = start()
    if use.places[0].own:
        pytest.skip("/var/tmp is a tmpfs here: counted by its size alone")
    use._began = 0
    return use


def test_only_what_changed_since_the_start_is_counted(use, folder):
    """What was there before the session is not the session's; its change time tells."""
    status = (folder / "before").stat()
    assert use.measure()["size"] == status.st_blocks * 512

    use._began = status.st_ctime + 1
    os.utime(folder / "before", (status.st_ctime + 9, status.st_ctime + 9))
    assert use.measure()["size"] == 0


def test_home_counts_whole_and_tells_what_it_held(start, folder):
    """A home grows over sessions; each answers for all of it."""
    home = folder.with_suffix(".home")
    home.mkdir()
    try:
        (home / "cache").write_bytes(bytes(2 * MIB))
        use = start(home, home=home)
        use._began += 5

        assert not use.home_is_known
        assert use.measure()["before"] == use.measure()["size"] == 2 * MIB
        assert use.measure_home()["before"] == 2 * MIB

        use.count_home(900 * MIB)
        use.count_home(900 * MIB)
        assert use.home_is_known
        assert abs(use.suspected_bytes() - 900 * MIB) < 64 * MIB
    finally:
        (home / "cache").unlink()
        home.rmdir()


def test_places_of_one_file_system_are_suspected_once_and_counted_each(start, folder):
    """Two mounts show the same free space, and each its own files."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as second:
        (Path(second) / "more").write_bytes(bytes(3 * MIB))
        inner = folder / "inner"
        inner.mkdir()
        use = start(second, inner)
        use._began = 0

        assert use.measure()["size"] >= 7 * MIB
        assert use.measure()["size"] < 8 * MIB
        assert len(use._stores) <= 2


def test_files_are_counted_in_the_workspace_alone(start, folder):
    """Only they are read back."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as second:
        for name in ("a", "b"):
            (Path(second) / name).touch()
        (folder / "sub").mkdir()
        (folder / "sub" / "file").touch()
        use = start(second)
        use._began = 0

        assert use.measure()["files"] == 3


def test_links_out_of_the_workspace_are_not_followed(use, folder):
    """A link to a large directory makes nobody over budget."""
    (folder / "before").unlink()
    (folder / "link").symlink_to("/usr")

    assert use.measure()["size"] < MIB


def test_settling_moves_suspicion(use):
    """After an exact look, only what is written later is suspicious again."""
    use.settle(7 * MIB, 5)

    assert abs(use.suspected_bytes() - 7 * MIB) < 32 * MIB
    assert use.suspected_files() < 10_000
