import json
import os
from pathlib import Path

import pytest
from census import DEEPEST, Census

from tests.support.budgets import folder_on_disk, ids

MIB = 1024**2


@pytest.fixture
def folder():
    with folder_on_disk() as folder:
        yield folder


def counted(root, *, every=True, since=0.0):
    census = Census(since, set())
    census.count_tree(str(root), every=every, as_files=True)
    answer = census.answer()
    del answer["largest"], answer["fullest"]
    return answer


def counted_by_its_owner(root):
    """Count as the user whose directory it is, who has no powers, in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            uid, gid = ids()
            if os.geteuid() == 0:
                os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            os.write(write, json.dumps(counted(root)).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = json.loads(pipe.read())
    os.waitpid(child, 0)
    return answer


def own(path, mode):
    os.chown(path, *ids())
    path.chmod(mode)


def test_hard_links_count_once(folder):
    """Two names of one file take the room of one, and are two names."""
    (folder / "file").write_bytes(bytes(MIB))
    (folder / "again").hardlink_to(folder / "file")

    assert counted(folder) == {"size": MIB, "before": 0, "files": 2, "unsure": []}


def test_places_that_hold_most_are_named(folder):
    """Whole directories below the counted one, since one file says little."""
    (folder / "deep" / "er").mkdir(parents=True)
    for name in ("deep/er/a", "deep/b", "c"):
        (folder / name).write_bytes(bytes(MIB))
    for number in range(5):
        (folder / f"small{number}").write_bytes(bytes(4096))
    census = Census(0.0, set())
    census.count_tree(str(folder), every=True, as_files=True)
    answer = census.answer()

    named = [place.removeprefix(f"{folder}/") for place, _ in answer["largest"]]
    assert named[:2] == ["deep", "c"]
    assert dict(answer["fullest"])[f"{folder}/deep"] == 4
    assert len(answer["largest"]) == len(answer["fullest"]) == 3


def test_links_and_directories_take_room_too(folder):
    """A block for each: many of them fill a disk without a file."""
    (folder / "link").symlink_to("x" * 4000)
    (folder / "sub").mkdir()

    answer = counted(folder)

    assert answer["files"] == 2
    assert answer["size"] == sum(
        os.lstat(folder / name).st_blocks * 512 for name in ("link", "sub")
    )
    assert answer["size"] > 0


def test_path_longer_than_the_kernel_takes_is_counted(folder):
    """Each directory is opened from the one above."""
    above = os.open(folder, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=above)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = below
    file = os.open("leaf", os.O_CREAT | os.O_WRONLY, dir_fd=above)
    os.write(file, bytes(2 * MIB))
    os.fsync(file)
    os.close(file)
    os.close(above)

    answer = counted(folder)

    assert answer["unsure"] == []
    assert 2 * MIB <= answer["size"] < 3 * MIB


def test_bottomless_directories_leave_doubt(folder):
    """Each level costs a descriptor, so there is an end to it."""
    above = os.open(folder, os.O_RDONLY)
    for _ in range(DEEPEST + 3):
        os.mkdir("d", dir_fd=above)
        below = os.open("d", os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = below
    os.close(above)
    before = len(list(Path("/proc/self/fd").iterdir()))

    [unsure] = counted(folder)["unsure"]

    assert unsure.startswith(f"{folder}/d/d/")
    assert len(unsure) <= 200
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("mode", [0o300, 0o400, 0o000, 0o200])
def test_own_directory_that_is_closed_leaves_doubt(folder, mode):
    """Its owner opens it when it likes."""
    closed = folder / "closed"
    closed.mkdir()
    (closed / "file").write_bytes(bytes(MIB))
    own(closed, mode)

    assert counted_by_its_owner(folder)["unsure"] == [f"{folder}/closed"]


def test_many_doubts_are_named_in_part(folder):
    """The words stay readable."""
    for number in range(5):
        closed = folder / f"closed{number}"
        closed.mkdir()
        own(closed, 0o300)

    answer = counted_by_its_owner(folder)

    assert len(answer["unsure"]) == 4
    assert answer["unsure"][-1] == "2 more"


@pytest.mark.skipif(os.geteuid() != 0, reason="makes directories of others")
@pytest.mark.parametrize(("mode", "sure"), [(0o700, True), (0o744, True), (0o711, False)])
def test_directory_of_another_user_leaves_doubt_where_it_can_be_entered(folder, mode, sure):
    """A database's data in the project is nobody's hiding place."""
    other = folder / "pgdata"
    other.mkdir(mode=0o700)
    (other / "file").touch()
    other.chmod(mode)

    assert (counted_by_its_owner(folder)["unsure"] == []) is sure
