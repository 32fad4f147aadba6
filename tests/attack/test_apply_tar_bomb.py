"""A box cannot fill the host's disk, memory or time by what it hands back."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.node import Limits
from orchestrator.workspace.spool import Spool
from orchestrator.workspace.tar_in import TarIn
from tests.support.hostile_tar import archive, chunks, member, read


def test_many_names_are_stopped_at_the_limit(tmp_path: Path) -> None:
    """The count of names is bounded."""
    data = archive(*((member(f"workspace/{n}"), b"") for n in range(200)))

    with pytest.raises(WorkspaceError, match="more than 100 names"):
        read(data, Spool(tmp_path / "s"), Limits(entries=100))


def test_many_bytes_are_stopped_at_the_limit(tmp_path: Path) -> None:
    """Contents together are bounded, also when each file is small."""
    data = archive(*((member(f"workspace/{n}"), bytes(1000)) for n in range(20)))

    with pytest.raises(WorkspaceError, match="more than 10000 bytes"):
        read(data, Spool(tmp_path / "s"), Limits(bytes=10_000))


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
