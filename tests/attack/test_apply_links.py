"""Links in a box, symbolic and hard, lead no write and no read out of the directory."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from orchestrator.workspace.judge import link_refusal
from orchestrator.workspace.spool import Spool
from orchestrator.workspace.tree import open_tree
from tests.support.hostile_tar import archive, member, read

ESCAPES = [
    ("report.txt", "/home/user/.ssh/id_ed25519"),
    ("x", ".."),
    ("x", "../../outside"),
    ("a/x", "../../outside"),
    ("a/x", "b/../../../outside"),
    ("a/x", "./../.././.."),
    ("x", "a/.."),
    ("x", "a/../b"),
    ("x", "//etc"),
    ("x", ".git/hooks"),
    ("a/x", "../.GIT/config"),
]


@pytest.mark.parametrize(("path", "target"), ESCAPES)
def test_link_that_leaves_is_refused(path: str, target: str) -> None:
    """Absolute, climbing and roundabout targets are all refused."""
    assert link_refusal(path, target)


@pytest.mark.parametrize(
    ("path", "target"), [("x", "a"), ("a/x", "../b"), ("a/b/x", "../../c/d"), ("x", "./a/b")]
)
def test_link_that_stays_is_allowed(path: str, target: str) -> None:
    """The other side of the rule: ordinary links come through."""
    assert link_refusal(path, target) == ""


@pytest.mark.parametrize(
    "linkname",
    ["workspace/../../outside", "/etc/passwd", "workspace/link", "workspace/none", "etc"],
)
def test_hard_link_to_anything_but_a_file_of_the_archive_is_refused(
    linkname: str, tmp_path: Path
) -> None:
    """A hard link to a link, to nothing or to the outside becomes no content."""
    data = archive(
        (member("workspace/link", type=tarfile.SYMTYPE, linkname="../../outside"), b""),
        (member("workspace/hard", type=tarfile.LNKTYPE, linkname=linkname), b""),
    )

    node = read(data, Spool(tmp_path / "s"))["hard"]

    assert "hard link to something" in node.trouble
    assert node.sha256 == ""


WORDS = "symbolic links|Not a directory|cross-device|No such file|not a regular"


@pytest.mark.parametrize("openat2", [True, False])
@pytest.mark.parametrize(
    "path", ["out/secret", "deep/out/secret", "out", "up/../secret", "../secret"]
)
def test_host_tree_is_never_left(tmp_path: Path, path: str, *, openat2: bool) -> None:
    """Links that stand on the host already are not followed, by either way of opening."""
    (tmp_path / "secret").write_text("outside")
    root = tmp_path / "root"
    (root / "deep").mkdir(parents=True)
    (root / "up").mkdir()
    (root / "out").symlink_to(tmp_path)
    (root / "deep/out").symlink_to("../..")

    with open_tree(root, openat2=openat2) as tree, pytest.raises(OSError, match=WORDS):
        tree.file(path).__enter__()
