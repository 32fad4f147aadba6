"""A box's archive with names that leave the workspace writes nothing anywhere."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.spool import Spool
from tests.support.hostile_tar import archive, member, read

NAMES = [
    "workspace/..",
    "workspace/../evil",
    "workspace/../../../../etc/cron.d/x",
    "/etc/cron.d/x",
    "workspace/./x",
    "workspace//x",
    "other/x",
    "workspace/a/../../x",
    "..",
]


@pytest.mark.parametrize("name", NAMES)
def test_name_that_leaves_spoils_the_whole_archive(name: str, tmp_path: Path) -> None:
    """The honest members beside it are not taken either, and the name is told."""
    data = archive((member("workspace/good"), b"good"), (member(name), b"evil"))

    with pytest.raises(WorkspaceError, match="nothing was read back") as caught:
        read(data, Spool(tmp_path / "spool"))

    assert repr(name) in caught.value.message
    assert [path.name for path in tmp_path.iterdir()] == ["spool"]


def test_member_below_a_link_spoils_the_whole_archive(tmp_path: Path) -> None:
    """Nothing can pass through a link that came in the same archive."""
    link = member("workspace/d", type=tarfile.SYMTYPE, linkname="..")
    data = archive((link, b""), (member("workspace/d/x"), b"evil"))

    with pytest.raises(WorkspaceError, match="no directory of the archive"):
        read(data, Spool(tmp_path / "spool"))


def test_name_that_comes_twice_spoils_the_whole_archive(tmp_path: Path) -> None:
    """What was judged first is never replaced by what comes later."""
    data = archive(
        (member("workspace/d", type=tarfile.DIRTYPE), b""),
        (member("workspace/d", type=tarfile.SYMTYPE, linkname="/etc"), b""),
    )

    with pytest.raises(WorkspaceError, match="comes twice"):
        read(data, Spool(tmp_path / "spool"))
