"""The mark by which an overlay remembers which host file a copy was made from.

It holds the host file's handle: an inode's number is given to another file once the first is
deleted, and the handle, which counts such generations, is not.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

ORIGIN = "user.overlay.origin"

_HEADER = struct.Struct("=BBBBB16s")
"""Version, magic, length, flags, handle type, file system's uuid (fs/overlayfs/overlayfs.h)."""
_MAGIC = 0xFB
# Handles that begin with the inode's number, by type and length, from linux/exportfs.h and what
# ext4 and xfs put in them. tmpfs has the first type too, with another length and order.
_FORMS = {(0x01, 8): "=I", (0x81, 12): "=Q"}


class Handle(NamedTuple):
    """What names one file of a file system for good; the kernel's, compared and never read."""

    kind: int
    data: bytes


class Origin(NamedTuple):
    """The host file that a mark names."""

    inode: int
    handle: Handle


def parse_origin(mark: bytes) -> Origin | None:
    """Return what a mark names; None where the file system has handles of its own form."""
    if len(mark) < _HEADER.size:
        return None
    _, magic, length, _, kind, _ = _HEADER.unpack_from(mark)
    data = mark[_HEADER.size : length]
    form = _FORMS.get((kind, len(data)))
    if magic != _MAGIC or form is None:
        return None
    (inode,) = struct.unpack_from(form, data)
    return Origin(inode, Handle(kind, data))
