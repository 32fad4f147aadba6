"""Asks the host and the engine what the choice of a mode depends on."""

from __future__ import annotations

import os
import re
from pathlib import Path

from orchestrator.engine.client import Engine
from orchestrator.errors import WorkspaceError
from orchestrator.workspace.beneath import file_system_type
from orchestrator.workspace.modes import HostFacts, command_ids

_USERXATTR_KERNEL = (5, 11)
"""First kernel that mounts an overlay with ``userxattr``."""

_SPECIAL = re.compile(r"[\\:,\n]")
"""Characters that mean something in an overlay's mount options."""

# From linux/magic.h: file systems that an overlay does not take, or not when shared.
_NO_LAYER = {
    0x794C7630: "an overlay itself",
    0x6969: "NFS",
    0xFF534D42: "CIFS",
    0xFE534D42: "SMB",
    0x65735546: "FUSE",
    0x01021997: "9p",
    0x4D44: "FAT",
    0x2011BAB0: "exFAT",
    0xF15F: "eCryptfs",
}


def gather_facts(engine: Engine, directory: Path, state: Path) -> tuple[HostFacts, int, int]:
    """Return the facts, and uid and gid of the box's commands."""
    try:
        info = directory.stat()
    except OSError as err:
        raise WorkspaceError(f"{directory}: cannot be used: {err.strerror}") from err
    uid, gid = command_ids((os.getuid(), os.getgid()), (info.st_uid, info.st_gid))
    told = engine.info()
    facts = HostFacts(
        engine_local=told.local,
        engine_remaps=told.rootless or "userns" in told.security_options,
        owner=info.st_uid,
        command_uid=uid,
        overlay_problem=_overlay_problem(directory, state),
    )
    return facts, uid, gid


def _overlay_problem(directory: Path, state: Path) -> str:
    release = os.uname().release
    numbers = re.match(r"(\d+)\.(\d+)", release)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < _USERXATTR_KERNEL:
        return f"the kernel is {release}, overlays for plain users need 5.11"
    if _SPECIAL.search(str(state)):
        return f"the state directory's path {str(state)!r} has characters that mount options use"
    for path in (directory, state):
        kind = _NO_LAYER.get(file_system_type(path))
        if kind is not None:
            return f"{path} is on {kind}"
    try:
        os.setxattr(state, "user.glovebox", b"1")
        os.removexattr(state, "user.glovebox")
    except OSError as err:
        return f"{state} takes no extended attributes ({err.strerror})"
    return ""
