"""Extended attributes and access lists: the host's own stay with a file whose content changes.

What a box set on its own copy never reaches the host.
"""

from __future__ import annotations

import errno
import os
import stat

from orchestrator.workspace.tree import Tree

_ACCESS_LIST = "system.posix_acl_access"
_NOT_HERE = {errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.ENODATA, errno.EINVAL}
"""The file system has none, or this caller may not set it."""


def keep_attributes(tree: Tree, path: str, fd: int) -> None:
    """Give an open new file what the host's file at ``path`` has: ``user.*`` and its access list."""
    info = tree.lstat(path)
    if info is None or not stat.S_ISREG(info.st_mode):
        return
    try:
        with tree.file(path) as old:
            for name in os.listxattr(old):
                if name == _ACCESS_LIST or name.startswith("user."):
                    os.setxattr(fd, name, os.getxattr(old, name))
    except OSError as err:
        if err.errno not in _NOT_HERE:
            raise
