"""A workspace's own record in the state directory, so that another process can go on with it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.node import WorkspaceMode

RECORD = "workspace.json"
LEASE = "lease"
"""Locked by whoever keeps a warm box on the workspace."""
_LOCK = "lock"


class WorkspaceRecord(BaseModel):
    """Everything that a later look at the workspace needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    session: str
    mode: WorkspaceMode
    directory: str
    """The host's directory, absolute, links resolved."""
    inode: int
    """Of that directory: another one at its path is another project."""
    uid: int
    gid: int
    volume: str
    """Name of the engine's volume."""
    image: str
    """Any image the engine has; nothing of it runs."""
    started_ns: int
    """Change time of a file made when the session began, by the host's own clock."""
    protected: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    disk_bytes: int
    """How much the box may hand back."""
    warm: bool = False
    """Prepared before anybody asked for it: no session's yet, and nothing in it."""
    runtime: str | None = None
    """The engine's runtime for containers that look at what the box wrote; None for its default."""
    git_objects: str = ""
    """The host's object directory where the box has a private repository; empty elsewhere."""
    applied: dict[str, str] = {}
    """Path to the fingerprint of what an earlier apply left there; overlay only."""


def save_record(folder: Path, record: WorkspaceRecord) -> None:
    """Replace the record in one step."""
    temporary = folder / f"{RECORD}.new"
    # Names that are no UTF-8 are kept by JSON's own escapes.
    temporary.write_text(json.dumps(record.model_dump()), "ascii")
    temporary.replace(folder / RECORD)


def load_record(folder: Path) -> WorkspaceRecord | None:
    """Return the record, None where there is none; WorkspaceError when it is broken."""
    path = folder / RECORD
    try:
        return WorkspaceRecord.model_validate(json.loads(path.read_text("ascii")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, ValidationError) as err:
        raise WorkspaceError(
            f"{path}: the workspace's record cannot be read: {err}",
            hint=f"`glovebox discard {folder.name}` drops the workspace",
        ) from err


@contextmanager
def locked(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold a session's workspace alone; WorkspaceError when another process has it."""
    fd = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    except BlockingIOError as err:
        raise WorkspaceError(
            f"session {folder.name}: another glovebox command works on its changes",
            hint="wait until it has ended",
        ) from err
    finally:
        os.close(fd)
