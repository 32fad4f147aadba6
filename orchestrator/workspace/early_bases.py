"""Keeps, while a session runs, what the host has where the box changed it.

The look at a session's end comes too late for a file that the person edited meanwhile.
"""

from __future__ import annotations

import hashlib
import stat

from orchestrator.workspace.bases import MOST_BYTES, Base, Bases
from orchestrator.workspace.derived import host_text
from orchestrator.workspace.node import PERMISSIONS, is_git_internal, signature
from orchestrator.workspace.tree import Found, Tree, open_tree
from orchestrator.workspace.workspace import Site


def keep_early_bases(site: Site, host: Tree) -> None:
    """Keep the texts that the host still has as the session found them; overlay only.

    Only names are taken from the box's layer, so that it may run meanwhile. The session's lock
    is held. A file that changes in this moment is left for later.
    """
    if site.record.mode != "overlay":
        return
    bases = Bases.load(site.folder)
    with open_tree(site.folder / "upper") as upper:
        for found in upper.walk("", enter=lambda one: _may_enter(one, site), pass_over=True):
            if stat.S_ISREG(found.stat.st_mode) and not bases.digest(found.path):
                _keep(found.path, bases, host, site.record.started_ns)
    bases.save()


def forget_untouched(site: Site) -> None:
    """Drop the bases of what the box's layer has no more: there it sees the host's files of now.

    A copy's bases hold for what went in, which its manifest tells.
    """
    if site.record.mode != "overlay":
        return
    bases = Bases.load(site.folder)
    with open_tree(site.folder / "upper") as upper:
        bases.forget([path for path in bases.paths() if upper.lstat(path) is None])
    bases.save()


def _may_enter(found: Found, site: Site) -> bool:
    return not is_git_internal(found.path) and site.limits.may_enter(found.path)


def _keep(path: str, bases: Bases, host: Tree, started_ns: int) -> None:
    info = host.lstat(path)
    if info is None or not stat.S_ISREG(info.st_mode) or info.st_size > MOST_BYTES:
        return
    if info.st_ctime_ns > started_ns:
        return
    try:
        text = host_text(host, path, signature(info))
    except OSError:
        return
    if text is not None:
        mode = info.st_mode & PERMISSIONS
        bases.add(path, Base(text, mode, hashlib.sha256(text).hexdigest()))
