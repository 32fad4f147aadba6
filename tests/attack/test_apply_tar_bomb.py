"""A box cannot fill the host's disk, memory or time by what it hands back."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.node import Limits
from orchestrator.workspace.spool import Spool
from orchestrator.workspace.tar_in import TarIn
from tests.support.hostile_tar import archive, chunks, member, read


def test_many_names_are_left_in_the_box(tmp_path: Path) -> None:
    """The count of names that are held is bounded; what is beside the heap comes out."""
    heap = (member("workspace/many", type=tarfile.DIRTYPE), b"")
    members = [heap, *((member(f"workspace/many/{n}"), b"") for n in range(2000))]
    members += [(member("workspace/z", type=tarfile.DIRTYPE), b""), (member("workspace/z/n"), b"1")]

    nodes = read(archive(*members), Spool(tmp_path / "s"), Limits(entries=100))

    (left,) = [path for path, node in nodes.items() if node.trouble]
    assert left.startswith("many/")
    assert "one of 2000 new names" in nodes[left].trouble
    assert set(nodes) == {"many", left, "z", "z/n"}


def test_many_directories_are_left_in_the_box(tmp_path: Path) -> None:
    """None of them is a heap; the last ones are left, and what went in is read all the same."""
    members = []
    for n in range(300):
        members.append((member(f"workspace/{n:03}", type=tarfile.DIRTYPE), b""))
        members.append((member(f"workspace/{n:03}/f"), b"x"))
    members += [(member("workspace/was"), b"changed"), (member("workspace/zz"), b"")]
    spool = Spool(tmp_path / "s")
    spool.clear()

    reading = TarIn("workspace", Limits(entries=100), spool, lambda _: "", {"was": 4})
    nodes = reading.read(chunks(archive(*members)))

    assert len(nodes) <= 102
    assert nodes["was"].sha256
    assert sum("new names" in node.trouble for node in nodes.values()) == 1


def test_name_below_none_of_the_archive_is_hostile_until_some_are_left(tmp_path: Path) -> None:
    """A hole in the archive is a sign of harm where nothing was passed over."""
    members = ((member("workspace/a"), b""), (member("workspace/gone/x"), b""))

    with pytest.raises(WorkspaceError, match="nothing was read back"):
        read(archive(*members), Spool(tmp_path / "s"))


def test_bytes_beyond_the_limit_are_left_in_the_box(tmp_path: Path) -> None:
    """Contents kept are bounded together; what equals its base is no change, however much it is."""
    was = bytes(3000)
    members = [(member(f"workspace/{n:02}"), bytes([n]) * 1000) for n in range(20)]
    members += [(member("workspace/was"), was), (member("workspace/z"), b"small")]
    spool = Spool(tmp_path / "s")
    spool.clear()
    digest = hashlib.sha256(was).hexdigest()

    reading = TarIn(
        "workspace",
        Limits(bytes=10_100),
        spool,
        lambda path: digest if path == "was" else "",
        {"was": 3000},
    )
    nodes = reading.read(chunks(archive(*members)))

    left = {path for path, node in nodes.items() if node.trouble}
    assert left == {f"{n:02}" for n in range(10, 20)}
    assert all("one of 10 files that are left" in nodes[path].trouble for path in left)
    assert nodes["was"].sha256 == digest
    assert sum(path.stat().st_size for path in spool.directory.iterdir()) <= 10_100


def test_header_that_promises_a_petabyte_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """Nothing is allocated or waited for because a header says so."""
    info = member("workspace/huge", size=1 << 50)
    head = archive()[:512] + info.tobuf(tarfile.GNU_FORMAT)

    with pytest.raises(WorkspaceError, match="nothing was read back"):
        read(head, Spool(tmp_path / "s"))


def test_endless_stream_is_cut(tmp_path: Path) -> None:
    """Bytes are counted where they come in, whatever they claim to be."""
    limits = Limits(entries=1, bytes=1000)
    spool = Spool(tmp_path / "s")
    spool.clear()
    taken = 0

    def endless():
        nonlocal taken
        header = member("workspace/x/" + "y" * 300).tobuf(tarfile.PAX_FORMAT)
        while True:
            taken += len(header)
            yield header[:512] + header[512:1024] if len(header) > 1024 else header

    with pytest.raises(WorkspaceError):
        TarIn("workspace", limits, spool, lambda _: "").read(endless())
    assert taken < 100_000


def test_huge_extended_header_is_refused(tmp_path: Path) -> None:
    """A header's own text is bounded before it is read."""
    info = member("workspace/x", pax_headers={"comment": "x" * 3_000_000})
    data = archive((info, b""))

    with pytest.raises(WorkspaceError, match="header of"):
        read(data, Spool(tmp_path / "s"))


def test_deep_nesting_is_passed_over(tmp_path: Path) -> None:
    """A tree deeper than the limit is not built up in memory; what is beside it comes back."""
    members = [(member("workspace/a"), b"x")]
    name = "workspace"
    for _ in range(200):
        name += "/d"
        members.append((member(name, type=tarfile.DIRTYPE), b""))
    members.append((member(f"{name}/bottom"), b"y" * 2000))
    members.append((member("workspace/z", type=tarfile.LNKTYPE, linkname=f"{name}/bottom"), b""))

    nodes = read(archive(*members), Spool(tmp_path / "s"))

    deepest = max(nodes, key=len)
    assert deepest.count("/") == Limits().depth - 1
    assert "nested deeper" in nodes[deepest].trouble
    assert not nodes["a"].trouble
    assert "hard link" in nodes["z"].trouble


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9])
def test_archive_that_is_cut_is_no_deletion(tmp_path: Path, keep: float) -> None:
    """Missing members are never taken for deleted files: the end mark has to come."""
    data = archive(*((member(f"workspace/{n}"), b"x" * 700) for n in range(20)))
    whole = data.rstrip(b"\0")
    spool = Spool(tmp_path / "s")
    spool.clear()

    with pytest.raises(WorkspaceError, match=r"ended before|broken"):
        TarIn("workspace", Limits(), spool, lambda _: "").read(
            chunks(whole[: int(len(whole) * keep)])
        )
