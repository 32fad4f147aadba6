import hashlib
import os

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.snapshots_bytes import clone
from orchestrator.workspace.snapshots_contents import Contents

SMALL, LARGE = b"small", os.urandom(3 * 1024 * 1024)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def read(contents, sha256):
    fd = contents.open(sha256)
    try:
        return b"".join(iter(lambda: os.read(fd, 1 << 20), b""))
    finally:
        os.close(fd)


@pytest.mark.parametrize("data", [b"", SMALL, LARGE])
def test_content_is_had_back_whole_and_kept_once(tmp_path, data):
    """By chunks or from a file, the same content is one."""
    contents = Contents(tmp_path / "c")
    source = tmp_path / "source"
    source.write_bytes(data)

    by_chunks = contents.keep([data[:9], data[9:]], size=len(data))
    with source.open("rb") as file:
        by_file = contents.keep_file(file.fileno(), size=len(data))
    contents.sync()

    assert by_chunks.sha256 == by_file.sha256 == digest(data)
    assert read(contents, digest(data)) == data
    assert contents.sizes() == {digest(data): len(data)}
    assert contents.used_bytes == len(data)


def test_file_that_grows_without_end_is_not_followed(tmp_path):
    """A little more than was announced is read, and no further."""
    contents = Contents(tmp_path / "c")
    with open("/dev/zero", "rb") as endless:  # noqa: PTH123 - no regular file
        digester = contents.keep_file(endless.fileno(), size=1000)

    assert 1000 < digester.size < 2**20


def test_many_contents_are_on_the_disk_at_once(tmp_path):
    """More than a few are synced together; what is new is then known to be there."""
    contents = Contents(tmp_path / "c")
    kept = [contents.keep([f"{n}".encode()], size=1).sha256 for n in range(20)]
    contents.sync()

    assert all(contents.has(sha256) for sha256 in kept)


def test_contents_without_a_name_and_half_written_ones_go(tmp_path):
    """What a kill left behind is removed; the count follows."""
    contents = Contents(tmp_path / "c")
    kept = contents.keep([b"kept"], size=4).sha256
    contents.keep([b"forgotten"], size=9)
    (tmp_path / "c" / "incoming").write_bytes(b"half")

    contents.drop_all_but([kept])

    assert contents.sizes() == {kept: 4}
    assert contents.used_bytes == 4


def test_content_that_is_gone_is_named(tmp_path):
    """With the way to another snapshot."""
    with pytest.raises(WorkspaceError, match="cannot be read") as caught:
        Contents(tmp_path).open("0" * 64)

    assert "--list" in caught.value.hint


def test_blocks_are_shared_or_it_is_said(tmp_path):
    """Where the file system cannot, nothing was written."""
    (tmp_path / "a").write_bytes(LARGE)
    with (tmp_path / "a").open("rb") as source, (tmp_path / "b").open("wb") as into:
        shared = clone(source.fileno(), into.fileno())

    assert (tmp_path / "b").read_bytes() == (LARGE if shared else b"")
