"""Opening a directory by a whole path at once, which the kernel refuses where a link is on the way.

``openat2`` takes as long as ``openat`` does for one component; Python does not offer it.
"""

from __future__ import annotations

import ctypes
import os

_OPENAT2 = 437
"""Its number on every architecture."""
_AT_FDCWD = -100
_NO_MAGIC_LINKS, _NO_LINKS = 0x02, 0x04
_HOW = (ctypes.c_uint64 * 3)(
    os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, 0, _NO_MAGIC_LINKS | _NO_LINKS
)
_syscall = ctypes.CDLL(None).syscall
_syscall.restype = ctypes.c_long
_syscall.argtypes = (
    ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t,
)  # fmt: skip


def open_straight(path: bytes) -> int | None:
    """Return a handle (O_PATH) of a directory, given by an absolute path without dots.

    None where there is none, a link or file is on the way, or the kernel (gVisor, seccomp) does not
    know the call: a walk step by step tells which.
    """
    # As text of C it would end there.
    if b"\0" in path:
        return None
    handle: int = _syscall(_OPENAT2, _AT_FDCWD, path, _HOW, ctypes.sizeof(_HOW))
    return handle if handle >= 0 else None
