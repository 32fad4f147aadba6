"""A layer that looks as a snapshot did, although something else lies below it by now."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import replace

from orchestrator.workspace.globs import PathGlobs
from orchestrator.workspace.snapshots_piece import Piece, Pieces, is_covered, opaque, whiteout
from orchestrator.workspace.tree import Tree


def with_below(
    state: Pieces, below: Mapping[str, Piece | None], host: Tree, *, hidden: PathGlobs
) -> dict[str, Piece]:
    """Return the layer that looks as ``state`` did when ``below`` lay under it.

    Where the host has something else by now, because the session applied it, the layer itself
    holds what was there; never what policy hides by now.
    """
    wanted = dict(state)
    for path, piece in sorted(below.items()):
        if is_covered(path, state):
            merged = piece is not None and piece.type == "directory"
            if path in state and state[path].type == "directory" and not merged:
                wanted[path] = opaque(state[path])
            continue
        if host.lstat(path) is None if piece is None else hidden.covers(path):
            continue
        _add_parents(wanted, path, host)
        wanted[path] = whiteout() if piece is None else replace(piece, twin="", seen=None)
    return wanted


def _add_parents(wanted: dict[str, Piece], path: str, host: Tree) -> None:
    parts = path.split("/")
    for count in range(1, len(parts)):
        above = "/".join(parts[:count])
        if above in wanted:
            continue
        info = host.lstat(above)
        mode, uid, gid, mtime = 0o755, os.getuid(), os.getgid(), 0
        if info is not None:
            mode, uid, gid = stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid
            mtime = info.st_mtime_ns
        wanted[above] = Piece("directory", mode, uid, gid, mtime)
