"""Keeps credentials of configuration files out of the box, and puts them back on the way home."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from orchestrator.workspace.contents import plain_node, read_node
from orchestrator.workspace.credentials import (
    CREDENTIAL_GLOBS,
    CREDENTIAL_NAMES,
    PLACEHOLDER,
    Masked,
    mask_credentials,
)
from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.hard_links import find_twins
from orchestrator.workspace.matches import find_matches
from orchestrator.workspace.node import Node, Observed
from orchestrator.workspace.spool import Spool
from orchestrator.workspace.tree import Tree

MOST_BYTES = 256 * 1024
"""A larger file is no configuration; it stays out of the box whole."""

# One character a byte, so that a text of any encoding comes back as it was.
_ENCODING = "latin-1"
_GLOBS = path_globs(CREDENTIAL_GLOBS)

ReadBox = Callable[[str, Node], bytes]
"""Reads what the box has at a path."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a box is not to see, and what it sees instead."""

    hidden: tuple[str, ...]
    masked: dict[str, bytes]
    """By path, what the box sees there."""
    twins: tuple[str, ...] = ()
    """Those of ``hidden`` that no glob names: other names of such files."""


def find_kept(tree: Tree, hidden: Iterable[str], *, pass_deep: bool = False) -> Kept:
    """Return what is hidden and what is masked, in one scan of a tree.

    Another name of a hidden file is hidden too, and so is one of a file with credentials.
    ``pass_deep`` is that of ``find_matches``.
    """
    patterns = tuple(hidden)
    globs = path_globs(patterns)
    out: list[str] = []
    masked: dict[str, bytes] = {}
    for path in find_matches(tree, globs, named=CREDENTIAL_NAMES, pass_deep=pass_deep):
        if globs.match(path) or is_too_large(tree, path):
            out.append(path)
        elif (content := masked_content(tree, path)) is not None:
            masked[path] = content
    twins = tuple(find_twins(tree, (*out, *masked)))
    return Kept((*out, *twins), masked, twins)


def masked_content(tree: Tree, path: str) -> bytes | None:
    """Return what the box sees of a file; None where that is the file itself."""
    masked = mask_of(tree, path)
    return masked.text.encode(_ENCODING) if masked is not None else None


def mask_of(tree: Tree, path: str) -> Masked | None:
    """Return a host file's masked text; None where it is no file or holds no credential."""
    if not _GLOBS.match(path):
        return None
    info = tree.lstat(path)
    if info is None or not stat.S_ISREG(info.st_mode) or info.st_size > MOST_BYTES:
        return None
    try:
        with tree.file(path) as fd:
            text = os.read(fd, MOST_BYTES).decode(_ENCODING)
    except PermissionError:
        # Who may not read it here may not there.
        return None
    return mask_credentials(path, text)


def read_small(tree: Tree, path: str) -> bytes:
    """Return a file's content, no more of it than may be restored."""
    with tree.file(path) as fd:
        return os.read(fd, MOST_BYTES + 1)


def unmask(observed: Observed, host: Tree, read: ReadBox, *, spool: Spool) -> Observed:
    """Return the pictures as if the box had worked on the host's real files.

    Restored contents are kept in ``spool``. A placeholder that cannot be put right makes the
    change one that is refused.
    """
    base, box = dict(observed.base), dict(observed.box)
    for path, node in observed.box.items():
        masked = mask_of(host, path) if node.type == "file" and not node.trouble else None
        if masked is None or (info := host.lstat(path)) is None:
            continue
        real = read_node(host, path, plain_node(host, path, info))
        base[path] = real
        box[path] = _restored(node, real, masked, read(path, node), spool=spool)
    return replace(observed, base=base, box=box)


def _restored(node: Node, real: Node, masked: Masked, content: bytes, *, spool: Spool) -> Node:
    if node.size > MOST_BYTES:
        return replace(node, trouble=f"it held credentials, and holds {node.size} bytes now")
    text = content.decode(_ENCODING)
    if text == masked.text:
        return replace(node, size=real.size, sha256=real.sha256, binary=real.binary)
    if PLACEHOLDER not in text:
        return node
    restored = masked.restore(text)
    if restored is None:
        return replace(
            node,
            trouble="it holds the placeholder of a credential that the box never saw, in a changed "
            "place; make this change by hand",
        )
    data = restored.encode(_ENCODING)
    digest = spool.take([data], size=len(data), unwanted="")
    return replace(node, size=len(data), sha256=digest.sha256, binary=digest.binary)


def is_too_large(tree: Tree, path: str) -> bool:
    """Say whether a file would be masked, but is so large that it stays out of the box whole."""
    info = tree.lstat(path) if _GLOBS.match(path) else None
    return info is not None and stat.S_ISREG(info.st_mode) and info.st_size > MOST_BYTES
