import io
import tarfile

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.manifest import Original
from orchestrator.workspace.node import Limits, Node, Signature
from orchestrator.workspace.snapshots_contents import Contents
from orchestrator.workspace.snapshots_piece import Piece
from orchestrator.workspace.snapshots_scan import scan
from orchestrator.workspace.snapshots_volume import VolumeLayer, first_layer
from orchestrator.workspace.volume_copy import path_in_volume


def member(name, data=b"", **more):
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.uid, info.gid, info.mode = len(data), 7, 5, 6, 0o640
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


def archive(*members):
    with io.BytesIO() as buffer:
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for info, data in members:
                tar.addfile(info, io.BytesIO(data))
        return buffer.getvalue()


def look(tmp_path, *members, known=None, most_bytes=1000, limits=None):
    contents = Contents(tmp_path / "contents")
    limits = limits or Limits()
    layer = VolumeLayer(
        [archive(*members)], path_in_volume(limits), limits, most_bytes, known or {}
    )
    return scan(layer, {}, contents, limits=Limits()), contents


DIRECTORY = member("workspace", type=tarfile.DIRTYPE, mode=0o755)


def test_archive_is_a_layer(tmp_path):
    """Types, attributes, and which names are one file, whichever comes first."""
    found, contents = look(
        tmp_path,
        DIRECTORY,
        member("workspace/b", b"data"),
        member("workspace/a", type=tarfile.LNKTYPE, linkname="workspace/b"),
        member("workspace/l", type=tarfile.SYMTYPE, linkname="../x"),
    )

    assert found["b"].twin == "a"
    assert found["a"].twin == ""
    assert (found["a"].uid, found["a"].gid, found["a"].mode) == (5, 6, 0o640)
    assert found["a"].mtime_ns == 7_000_000_000
    assert found["l"].target == "../x"
    assert contents.has(found["a"].sha256)


def test_known_content_is_not_kept_again(tmp_path):
    """It lies with the host, or in an older snapshot."""
    known, _ = look(tmp_path / "first", DIRECTORY, member("workspace/a", b"data"))

    found, contents = look(tmp_path, DIRECTORY, member("workspace/a", b"data"), known=known)

    assert found["a"].same(known["a"])
    assert contents.sizes() == {}


def test_large_file_is_named_only(tmp_path):
    """It would push all others out."""
    found, contents = look(tmp_path, DIRECTORY, member("workspace/a", bytes(2000)))

    assert "larger than 1000" in found["a"].lost
    assert contents.sizes() == {}


@pytest.mark.parametrize("name", ["../x", "workspace/../x", "other/x", "workspace//x"])
def test_name_that_leads_out_is_refused(tmp_path, name):
    """No engine writes one."""
    with pytest.raises(WorkspaceError):
        look(tmp_path, DIRECTORY, member(name, b"x"))


def test_hard_link_to_nothing_is_refused(tmp_path):
    """Its content is nowhere in the archive."""
    odd = member("workspace/a", type=tarfile.LNKTYPE, linkname="workspace/none")

    with pytest.raises(WorkspaceError, match="hard link"):
        look(tmp_path, DIRECTORY, odd)


def test_first_layer_is_what_went_in():
    """With the box's own user, and no more of a mode than goes in."""
    seen = Signature(1, 0o100644, 4, 1_500_000_000, 0)
    given = [
        Original("f", Node("file", 0o4755, size=4, sha256="aa"), seen),
        Original("l", Node("symlink", 0o777, target="f"), seen),
        Original("d", Node("directory", 0o755), seen),
    ]

    assert first_layer(given, uid=5, gid=6) == {
        "f": Piece("file", 0o755, 5, 6, 1_000_000_000, size=4, sha256="aa"),
        "l": Piece("symlink", 0o777, 5, 6, 1_000_000_000, target="f"),
        "d": Piece("directory", 0o755, 5, 6, 1_000_000_000),
    }


def test_contents_are_bounded_together(tmp_path):
    """What lies elsewhere already does not count."""
    old, _ = look(tmp_path / "first", DIRECTORY, member("workspace/a", bytes(200)))

    found, contents = look(
        tmp_path,
        DIRECTORY,
        member("workspace/a", bytes(200)),
        member("workspace/b", b"b" * 200),
        member("workspace/c", b"c" * 200),
        known=old,
        limits=Limits(bytes=300),
    )

    assert [path for path, piece in found.items() if piece.lost] == ["c"]
    assert set(contents.sizes()) == {found["b"].sha256}
