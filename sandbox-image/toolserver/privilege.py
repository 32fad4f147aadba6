"""Becoming the command's user: for a moment inside the server, or for good in a child."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from config import Config

PR_SET_CHILD_SUBREAPER = 36
MAX_OPEN_FILES = 65_536
OOM_FIRST = "1000"
"""The kernel's out-of-memory killer takes a command before it takes the server."""


def as_command(config: Config) -> _Lent:
    """Run the body with the command's user as effective user; the server has one thread."""
    return _Lent(config)


class _Lent:
    # Written out, since contextlib's way takes as long as a read of a file.
    def __init__(self, config: Config) -> None:
        self._config = config
        self._own = os.geteuid(), os.getegid()

    def __enter__(self) -> None:
        try:
            os.setegid(self._config.gid)
            os.seteuid(self._config.uid)
        except OSError:
            self.__exit__()
            raise

    def __exit__(self, *_failure: object) -> None:
        uid, gid = self._own
        os.seteuid(uid)
        os.setegid(gid)


def become_subreaper() -> None:
    """Make every orphan of the box a child of this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def leave_server(config: Config, *, keep: tuple[int, ...]) -> None:
    """Make a forked child its own session, without the server's descriptors but ``keep``.

    Still root: the caller goes on to ``drop_for_good``, since a waiting child of the command's
    user could be stopped by any command.
    """
    gc.disable()
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    last = 2
    for fd in sorted(keep):
        os.closerange(last + 1, fd)
        last = fd
    os.closerange(last + 1, MAX_OPEN_FILES)
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write(OOM_FIRST)
    size = config.limits.file_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    os.setgroups([])
    os.setresgid(config.gid, config.gid, config.gid)


def drop_for_good(config: Config, mark: int) -> None:
    """Take the mark of a command (see ``tree``) and its user, with no way back."""
    # gVisor knows no such limit; descent and session still tell who belongs together.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_RTTIME, (mark, mark))
    os.setresuid(config.uid, config.uid, config.uid)
