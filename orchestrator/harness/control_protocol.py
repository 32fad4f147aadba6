"""What two processes of one user say to each other about a running session.

They use the frames of the glove. The caller begins with HELLO, the session answers READY; then the
caller opens streams, as the host does to a box. Nothing of the box has a part in it: the socket is
on the host, in a directory of the user's own, and the kernel says whose process calls.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.errors import BoxError
from orchestrator.sandbox.runtime_dir import runtime_root
from orchestrator.schema.ids import SessionId
from orchestrator.schema.stream import MOST_CELLS

VERSION = 1
ANSWER_S = 10.0
"""From HELLO to READY, and from the call to HELLO."""

Port = Annotated[int, Field(ge=1, le=65_535)]
Cells = Annotated[int, Field(ge=1, le=MOST_CELLS)]


class _Message(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class Preview(_Message):
    """A port of the box that is to be reached, and from where."""

    port: Port
    listen: str
    """Address and port on the host's loopback."""


class Hello(_Message):
    """The caller's first words."""

    version: int
    via: Literal["attach", "preview", "processes"]
    preview: Preview | None = None


class ProcessRow(_Message):
    """One process that the agent keeps running."""

    handle: str
    command: str
    running: bool
    exit_code: int | None = None
    signal: int | None = None


class Ready(_Message):
    """The session's answer."""

    version: int
    session: str
    error: str | None = None
    """Why it serves nobody."""
    processes: list[ProcessRow] | None = None
    """For who came for them; all text is redacted, and the box's."""


class TerminalOrder(_Message):
    """A terminal to open; the directory is the session's to say."""

    command: str | None = None
    columns: Cells
    rows: Cells


class Destination(_Message):
    """Where a stream is to lead: one of the two."""

    terminal: TerminalOrder | None = None
    tcp: Port | None = None


class OpenOrder(_Message):
    """The body of OPEN."""

    to: Destination
    credit: Annotated[int, Field(ge=0, le=2**31)]


M = TypeVar("M", bound=_Message)


def parse(kind: type[M], payload: bytes) -> M:
    """Return a message; BoxError for one of another shape."""
    try:
        return kind.model_validate(json.loads(payload))
    except (ValueError, RecursionError) as err:
        words = "no JSON"
        if isinstance(err, ValidationError):
            first = err.errors(include_url=False, include_input=False)[0]
            words = f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
        raise BoxError(f"control socket: {kind.__name__} expected, got {words}") from err


def control_directory(environ: Mapping[str, str]) -> Path:
    """Return where this user's sessions listen."""
    return runtime_root(environ, os.geteuid()) / "control"


def control_paths(session: SessionId, environ: Mapping[str, str]) -> list[Path]:
    """Return where a session may listen; its environment may have been another than this one."""
    places = [control_directory(environ), control_directory({})]
    return [place / session for place in dict.fromkeys(places)]
