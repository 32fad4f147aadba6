import struct

import pytest

from orchestrator.workspace.origin import Handle, parse_origin


def mark(kind: int, handle: bytes, magic: int = 0xFB) -> bytes:
    return struct.pack("=BBBBB16s", 0, magic, 21 + len(handle), 0, kind, b"u" * 16) + handle


def test_inode_is_read_from_both_common_handles():
    """ext4 has 32-bit inodes in its handles, xfs 64-bit ones."""
    small, large = struct.pack("=II", 1234, 5), struct.pack("=QI", 1 << 40, 5)

    assert parse_origin(mark(0x01, small)) == (1234, Handle(0x01, small))
    assert parse_origin(mark(0x81, large)) == (1 << 40, Handle(0x81, large))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"short",
        mark(0x4D, b"x" * 20),
        mark(0x01, b"x"),
        mark(0x01, b"tmpfs's own."),
        mark(0x01, b"xxxxxxxx", magic=0),
    ],
)
def test_mark_of_another_form_says_nothing(data):
    """No guess is made from bytes that are not understood."""
    assert parse_origin(data) is None
