import os
from pathlib import Path

import pytest

from orchestrator.workspace.moves import Linking, Swapping


@pytest.fixture
def place(tmp_path: Path):
    """A staging directory with a new content, and a directory with an old one."""
    for folder in ("staging", "host"):
        (tmp_path / folder).mkdir()
    (tmp_path / "staging/1").write_text("new")
    (tmp_path / "host/f").write_text("old")
    fds = [os.open(tmp_path / folder, os.O_RDONLY) for folder in ("staging", "host")]
    yield tmp_path, *fds
    for fd in fds:
        os.close(fd)


def texts(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()
    }


SWAPPED = {"staging/1": "old", "host/f": "new"}
BEFORE = {"staging/1": "new", "host/f": "old"}


@pytest.mark.parametrize("way", [Swapping, Linking])
def test_all_moves_come_to_the_same_in_both_ways(place, way):
    """There and back."""
    root, staging, host = place
    moves = way(staging)

    moves.swap("1", host, "f")
    assert texts(root) == SWAPPED
    moves.put("1", host, "g")
    moves.take("2", host, "g")
    assert texts(root) == {"staging/2": "old", "host/f": "new"}
    with pytest.raises(FileExistsError):
        moves.put("2", host, "f")
    assert texts(root) == {"staging/2": "old", "host/f": "new"}


def cut_off(root: Path, *calls: str) -> None:
    """Make the state that a swap by links leaves after its first calls."""
    if "take" in calls:
        (root / "host/f").rename(root / "staging/1.was")
    if "link" in calls:
        (root / "host/f").hardlink_to(root / "staging/1")


@pytest.mark.parametrize(
    ("calls", "mended"), [((), BEFORE), (("take",), BEFORE), (("take", "link"), SWAPPED)]
)
def test_swap_that_was_cut_off_is_mended_one_way_or_the_other(place, calls, mended):
    """Nothing is lost and no second name is left, however often it is mended."""
    root, staging, host = place
    cut_off(root, *calls)

    for _ in range(2):
        Linking(staging).mend("1", host, "f")

    assert texts(root) == mended


def test_mending_that_was_cut_off_is_mended(place):
    """Between its own two calls the old content has two names."""
    root, staging, host = place
    (root / "staging/1.was").hardlink_to(root / "host/f")

    Linking(staging).mend("1", host, "f")

    assert texts(root) == BEFORE


def test_put_that_was_cut_off_is_done(place):
    """The new name is there, so the slot's own goes."""
    root, staging, host = place
    (root / "host/n").hardlink_to(root / "staging/1")

    Linking(staging).mend("1", host, "n")

    assert texts(root) == {"host/f": "old", "host/n": "new"}


def test_name_that_somebody_made_meanwhile_stays(place):
    """Theirs and the old content are both kept, and the caller is told."""
    root, staging, host = place
    cut_off(root, "take")
    (root / "host/f").write_text("theirs")

    with pytest.raises(FileExistsError):
        Linking(staging).mend("1", host, "f")

    assert texts(root) == {"staging/1": "new", "staging/1.was": "old", "host/f": "theirs"}
