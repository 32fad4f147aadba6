"""Keeping a process that holds keys out of core dumps, and out of reach of debuggers."""

from __future__ import annotations

import ctypes
import os
import resource
import sys

_PR_SET_DUMPABLE = 4


def keep_out_of_dumps() -> None:
    """Let this process leave no core dump; programs that it starts are not affected.

    On Linux other processes of the same user can neither trace it nor read its memory from then on.
    The limit alone would not do: a dump that the kernel pipes into a program ignores it. OSError
    where the kernel refuses, so that no key is read in a process that would show it.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
    else:
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
