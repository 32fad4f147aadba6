"""Putting content into a file so that either all of it is there or the old content still is.

The rule is a new file beside the old one, renamed over it. Where that cannot be (the directory
takes no new file, the owner could not be kept, the file is a mount point) the file is written in
place, after its room was reserved, and put back as it was if writing fails.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_EXISTING = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_CANNOT_RENAME = {errno.EACCES, errno.EPERM, errno.EBUSY, errno.EROFS, errno.EXDEV}

MAX_BACKUP = 64 * 1024**2
"""Bytes of old content held in memory while a file is written in place."""


def replace(folder: int, name: bytes, data: bytes, *, old: os.stat_result | None) -> None:
    """Make ``data`` the content of ``name``; mode and owner of ``old`` are kept.

    Raises OSError with the old content unharmed.
    """
    if old is not None:
        _refuse_unwritable(folder, name)
    try:
        _replace_by_rename(folder, name, data, old=old)
    except OSError as error:
        fallback = old is not None and old.st_size <= MAX_BACKUP
        if not fallback or error.errno not in _CANNOT_RENAME:
            raise
        _replace_in_place(folder, name, data)


def make_folders(folder: int, names: tuple[bytes, ...]) -> int:
    """Create the directories one beneath the other; return a handle of the last.

    Each is opened without following links, so one that was swapped for a link is an error.
    """
    handle = os.dup(folder)
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    for name in names:
        try:
            # Somebody may have been faster; opening tells whether it is a directory.
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=handle)
            deeper = os.open(name, flags, dir_fd=handle)
        finally:
            os.close(handle)
        handle = deeper
    return handle


def write_all(handle: int, data: bytes) -> None:
    """Write every byte or raise OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _refuse_unwritable(folder: int, name: bytes) -> None:
    """Raise what writing to the file itself would; a rename would go past its mode."""
    try:
        os.close(os.open(name, os.O_WRONLY | _EXISTING, dir_fd=folder))
    except OSError as error:
        # A program that runs may be replaced, only not written to.
        if error.errno != errno.ETXTBSY:
            raise


def _replace_by_rename(
    folder: int, name: bytes, data: bytes, *, old: os.stat_result | None
) -> None:
    draft = b".glovebox-" + os.urandom(8).hex().encode() + b".tmp"
    handle = os.open(draft, _NEW, 0o666 if old is None else 0o600, dir_fd=folder)
    try:
        try:
            if old is not None:
                _keep_owner(handle, old)
            write_all(handle, data)
        finally:
            os.close(handle)
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        raise


def _keep_owner(handle: int, old: os.stat_result) -> None:
    new = os.fstat(handle)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(handle, old.st_uid, old.st_gid)
    # Set-id bits would have been cleared by a plain write, too.
    os.fchmod(handle, stat.S_IMODE(old.st_mode) & 0o1777)


def _replace_in_place(folder: int, name: bytes, data: bytes) -> None:
    handle = os.open(name, os.O_RDWR | _EXISTING, dir_fd=folder)
    try:
        size = os.fstat(handle).st_size
        before = os.pread(handle, size, 0)
        try:
            if len(data) > size:
                os.posix_fallocate(handle, 0, len(data))
            _overwrite(handle, data)
        except OSError:
            _overwrite(handle, before)
            raise
    finally:
        os.close(handle)


def _overwrite(handle: int, data: bytes) -> None:
    os.lseek(handle, 0, os.SEEK_SET)
    write_all(handle, data)
    os.ftruncate(handle, len(data))
