"""The mark by which an overlay remembers which host file a copy was made from."""

from __future__ import annotations

import struct

ORIGIN = "user.overlay.origin"

_HEADER = struct.Struct("=BBBBB16s")
"""Version, magic, length, flags, handle type, file system's uuid (fs/overlayfs/overlayfs.h)."""
_MAGIC = 0xFB
# Handle types that begin with the inode's number, from linux/exportfs.h.
_INODE32 = 0x01
_INODE64 = 0x81


def origin_inode(mark: bytes) -> int | None:
    """Return the host inode in a mark; None where the file system has handles of its own form."""
    if len(mark) < _HEADER.size:
        return None
    _, magic, _, _, kind, _ = _HEADER.unpack_from(mark)
    form = {_INODE32: "=I", _INODE64: "=Q"}.get(kind)
    if magic != _MAGIC or form is None or len(mark) < _HEADER.size + struct.calcsize(form):
        return None
    inode: int = struct.unpack_from(form, mark, _HEADER.size)[0]
    return inode
