"""System calls that keep a path beneath a directory, and rename without overwriting.

The kernel refuses links and ``..`` itself (openat2); where it is too old, or a filter hides the
call, the same is had by opening one component after another.
"""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path
from typing import NoReturn

_LIBC = ctypes.CDLL(None, use_errno=True)

_SYS_OPENAT2 = 437
"""The same number on every Linux architecture."""

# From linux/openat2.h and linux/fs.h.
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_RENAME_NOREPLACE = 1
_RENAME_EXCHANGE = 2

_MOST_TRIES = 1000
"""Of one opening that the kernel asks to repeat."""
_AT_EMPTY_PATH = 0x1000
_MAX_HANDLE = 128
"""Bytes, from linux/exportfs.h."""

_NOT_OFFERED = {errno.ENOSYS, errno.EPERM, errno.EINVAL}


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


class _FileHandle(ctypes.Structure):
    _fields_ = (
        ("handle_bytes", ctypes.c_uint),
        ("handle_type", ctypes.c_int),
        ("data", ctypes.c_ubyte * _MAX_HANDLE),
    )


def has_openat2(directory_fd: int) -> bool:
    """Say whether the kernel lets this process use openat2."""
    try:
        os.close(_openat2(directory_fd, ".", os.O_PATH))
    except OSError as err:
        if err.errno in _NOT_OFFERED:
            return False
        raise
    return True


def open_beneath(directory_fd: int, path: str, flags: int, *, openat2: bool) -> int:
    """Open ``path`` below a directory; a link on the way raises OSError (ELOOP or ENOTDIR).

    With ``O_PATH | O_NOFOLLOW`` a link in last place is opened itself.
    """
    if "\0" in path:
        raise OSError(errno.EINVAL, "a name cannot hold NUL", path)
    if openat2:
        return _openat2(directory_fd, path, flags)
    parts = path.split("/")
    if ".." in parts or path.startswith("/"):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    current = os.dup(directory_fd)
    try:
        for part in parts[:-1]:
            step = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=current)
            os.close(current)
            current = step
        return os.open(parts[-1], flags | os.O_NOFOLLOW, dir_fd=current)
    finally:
        os.close(current)


def file_handle(fd: int) -> tuple[int, bytes] | None:
    """Return the type and bytes of an open file's handle; None where the kernel gives none."""
    handle = _FileHandle(handle_bytes=_MAX_HANDLE)
    mount = ctypes.c_int()
    done = _LIBC.name_to_handle_at(
        fd, b"", ctypes.byref(handle), ctypes.byref(mount), _AT_EMPTY_PATH
    )
    if done != 0:
        return None
    return handle.handle_type, bytes(handle.data[: handle.handle_bytes])


def rename_new(name: str, new: str, *, src_fd: int, dst_fd: int) -> None:
    """Rename to a name that must be free; FileExistsError when it is not."""
    _renameat2(name, new, src_fd=src_fd, dst_fd=dst_fd, flags=_RENAME_NOREPLACE)


def exchange(name: str, other: str, *, src_fd: int, dst_fd: int) -> None:
    """Swap two names in one step, so that nothing is lost; both must exist."""
    _renameat2(name, other, src_fd=src_fd, dst_fd=dst_fd, flags=_RENAME_EXCHANGE)


def sync_file_system(fd: int) -> None:
    """Return when everything written to the file system of ``fd`` is on the disk."""
    if _LIBC.syncfs(fd) != 0:
        _raise(f"descriptor {fd}")


def _openat2(directory_fd: int, path: str, flags: int) -> int:
    how = _OpenHow(
        flags=flags | os.O_CLOEXEC,
        mode=0,
        resolve=_RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS,
    )
    for _ in range(_MOST_TRIES):
        fd: int = _LIBC.syscall(
            ctypes.c_long(_SYS_OPENAT2),
            ctypes.c_int(directory_fd),
            ctypes.c_char_p(os.fsencode(path)),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if fd >= 0:
            return fd
        # Something was renamed meanwhile, anywhere on the machine: not a word about this path.
        if ctypes.get_errno() != errno.EAGAIN:
            break
    code = ctypes.get_errno()
    raise OSError(code, os.strerror(code), path)


def _renameat2(name: str, new: str, *, src_fd: int, dst_fd: int, flags: int) -> None:
    code: int = _LIBC.renameat2(
        ctypes.c_int(src_fd),
        ctypes.c_char_p(os.fsencode(name)),
        ctypes.c_int(dst_fd),
        ctypes.c_char_p(os.fsencode(new)),
        ctypes.c_uint(flags),
    )
    if code != 0:
        _raise(new)


def _raise(path: str) -> NoReturn:
    code = ctypes.get_errno()
    raise OSError(code, os.strerror(code), path)


def file_system_type(path: Path) -> int:
    """Return the magic number of the file system a path is on."""
    # Larger than any struct statfs; its first field, a long, is the type.
    buffer = (ctypes.c_long * 64)()
    if _LIBC.statfs(ctypes.c_char_p(os.fsencode(path)), ctypes.byref(buffer)) != 0:
        _raise(str(path))
    return int(buffer[0]) & 0xFFFFFFFF
