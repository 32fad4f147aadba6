import os

import pytest
from config import Config, Limits
from disk import DiskUse

MIB = 1024**2


@pytest.fixture
def processes(tmp_path_factory):
    """One process without open files: those of this machine come and go as they like."""
    proc = tmp_path_factory.mktemp("proc")
    (proc / "1/fd").mkdir(parents=True)
    return proc


@pytest.fixture
def use(tmp_path, processes):
    (tmp_path / "before").write_bytes(bytes(4 * MIB))
    limits = Limits(1 << 30, 1 << 30, 1 << 30)
    use = DiskUse(
        Config("/w", "/h", "/s", (), (str(tmp_path),), 1, 1, {}, limits), proc=str(processes)
    )
    use._began = 0
    return use


def test_only_what_changed_since_the_start_is_counted(use, tmp_path):
    """What was there before the session is not the session's; its change time tells."""
    status = (tmp_path / "before").stat()
    assert use.measure() == status.st_blocks * 512

    use._began = status.st_ctime + 1
    os.utime(tmp_path / "before", (status.st_ctime + 9, status.st_ctime + 9))
    assert use.measure() == 0


def test_hard_links_count_once(use, tmp_path):
    """Two names of one file take the room of one."""
    (tmp_path / "again").hardlink_to(tmp_path / "before")

    assert use.measure() == (tmp_path / "before").stat().st_blocks * 512


def test_deleted_file_that_is_open_is_counted(use, tmp_path, processes):
    """A file without a name fills the disk as well as any."""
    (tmp_path / "before").unlink()
    with (tmp_path / "gone").open("wb") as file:
        file.write(bytes(3 * MIB))
        file.flush()
        (tmp_path / "gone").unlink()
        (processes / "1/fd/3").symlink_to(f"/proc/self/fd/{file.fileno()}")

        if use.places[0].own:
            pytest.skip("a tmpfs is counted by its own size")
        assert use.measure() >= 3 * MIB


def test_links_out_of_the_workspace_are_not_followed(use, tmp_path):
    """A link to a large directory makes nobody over budget."""
    (tmp_path / "before").unlink()
    (tmp_path / "link").symlink_to("/usr")

    assert use.measure() == 0


def test_settling_moves_suspicion(use):
    """After an exact look, only what is written later is suspicious again."""
    if use.places[0].own:
        pytest.skip("a tmpfs is never only suspected")
    use.settle(7 * MIB)

    assert abs(use.suspected_bytes() - 7 * MIB) < 32 * MIB
