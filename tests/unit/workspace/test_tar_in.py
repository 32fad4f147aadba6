import hashlib
import tarfile

import pytest

from orchestrator.workspace.node import Limits
from orchestrator.workspace.spool import Spool
from orchestrator.workspace.tar_in import TarIn
from tests.support.hostile_tar import archive, chunks, member, read

DIR = tarfile.DIRTYPE


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_members_become_nodes_under_their_paths(tmp_path):
    """Types, modes, targets and digests."""
    nodes = read(
        archive(
            (member("workspace/d", type=DIR, mode=0o750), b""),
            (member("workspace/d/f", mode=0o4755), b"data"),
            (member("workspace/l", type=tarfile.SYMTYPE, linkname="d/f"), b""),
            (member("workspace/p", type=tarfile.FIFOTYPE), b""),
            (member("workspace/c", type=tarfile.CHRTYPE), b""),
        ),
        Spool(tmp_path),
    )

    assert {path: node.type for path, node in nodes.items()} == {
        "d": "directory",
        "d/f": "file",
        "l": "symlink",
        "p": "fifo",
        "c": "device",
    }
    assert (nodes["d/f"].sha256, nodes["d/f"].mode) == (sha(b"data"), 0o4755)
    assert nodes["l"].target == "d/f"


def test_known_contents_are_not_kept(tmp_path):
    """Only what differs takes room on the host."""
    spool = Spool(tmp_path)
    spool.clear()
    known = {"same": sha(b"1"), "other": sha(b"0")}.get
    data = archive((member("workspace/same"), b"1"), (member("workspace/other"), b"2"))

    TarIn("workspace", Limits(), spool, lambda path: known(path, "")).read(chunks(data))

    assert [path.name for path in tmp_path.iterdir()] == [sha(b"2")]


def test_hard_link_to_a_file_of_the_archive_is_a_copy(tmp_path):
    """Links that a package manager makes come through as files."""
    spool = Spool(tmp_path)
    link = member("workspace/b", type=tarfile.LNKTYPE, linkname="workspace/a")

    nodes = read(archive((member("workspace/a"), b"x"), (link, b"")), spool)

    assert nodes["b"].sha256 == nodes["a"].sha256
    assert nodes["b"].links == 2


def test_hard_link_to_a_content_that_is_not_kept_is_a_trouble(tmp_path):
    """Its bytes are not at hand."""
    spool = Spool(tmp_path)
    spool.clear()
    link = member("workspace/b", type=tarfile.LNKTYPE, linkname="workspace/a")
    data = archive((member("workspace/a"), b"x"), (link, b""))

    nodes = TarIn("workspace", Limits(), spool, lambda _: sha(b"x")).read(chunks(data))

    assert "copy the file" in nodes["b"].trouble


@pytest.mark.parametrize("path", [".git/objects/a", "sub/.git/index"])
def test_contents_of_git_are_not_kept(tmp_path, path):
    """They never reach the host, but its settings are looked at."""
    members = [
        (member("workspace/" + "/".join(path.split("/")[: n + 1]), type=DIR), b"")
        for n in range(path.count("/"))
    ]
    config = member("workspace/" + path.split(".git")[0] + ".git/config")

    read(
        archive(*members, (member(f"workspace/{path}"), b"o"), (config, b"[core]")), Spool(tmp_path)
    )

    assert [kept.name for kept in tmp_path.iterdir()] == [sha(b"[core]")]
