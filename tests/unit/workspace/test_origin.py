import struct

import pytest

from orchestrator.workspace.origin import origin_inode


def mark(kind: int, handle: bytes, magic: int = 0xFB) -> bytes:
    return struct.pack("=BBBBB16s", 0, magic, 21 + len(handle), 0, kind, b"u" * 16) + handle


def test_inode_is_read_from_both_common_handles():
    """ext4 has 32-bit inodes in its handles, xfs 64-bit ones."""
    assert origin_inode(mark(0x01, struct.pack("=II", 1234, 5))) == 1234
    assert origin_inode(mark(0x81, struct.pack("=QI", 1 << 40, 5))) == 1 << 40


@pytest.mark.parametrize(
    "data",
    [b"", b"short", mark(0x4D, b"x" * 20), mark(0x01, b"x"), mark(0x01, b"xxxxxxxx", magic=0)],
)
def test_mark_of_another_form_says_nothing(data):
    """No guess is made from bytes that are not understood."""
    assert origin_inode(data) is None
