"""What a tool call would really do: the one object that is judged, recorded and run.

A tool plans a Request from the model's arguments; policy judges that Request, audit records it,
and the box runs it. ``to_wire`` is its only serial form, and ``request_digest`` its identity: an
approval holds for that digest alone.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import rfc8785

from orchestrator.schema.ids import Digest, digest_of


@dataclass(frozen=True, slots=True)
class ExecRequest:
    """Run one command line with ``bash -c``."""

    kind: ClassVar[str] = "exec"
    command: str
    cwd: str
    """Absolute path in the box."""
    timeout_s: float


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Read a window of one regular file."""

    kind: ClassVar[str] = "read"
    path: str
    offset: int = 1
    """1-based line number."""
    limit: int = 2000
    """Lines; the window also ends at ``max_bytes``."""
    max_bytes: int = 50_000
    resolved: str | None = None


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """Create a file or replace all of its content."""

    kind: ClassVar[str] = "write"
    path: str
    content: str
    resolved: str | None = None


@dataclass(frozen=True, slots=True)
class Replacement:
    """One edit: ``old`` must occur exactly once in the original, or ``replace_all`` is set."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class EditRequest:
    """Replace texts in one file, all or none, each matched against the original."""

    kind: ClassVar[str] = "edit"
    path: str
    edits: tuple[Replacement, ...]
    replace_all: bool = False
    resolved: str | None = None


@dataclass(frozen=True, slots=True)
class GrepRequest:
    """Search file contents below ``path``."""

    kind: ClassVar[str] = "grep"
    pattern: str
    path: str
    glob: str | None = None
    literal: bool = False
    ignore_case: bool = False
    context: int = 0
    limit: int = 100
    resolved: str | None = None


@dataclass(frozen=True, slots=True)
class FindRequest:
    """List the paths below ``path`` that match a glob."""

    kind: ClassVar[str] = "find"
    pattern: str
    path: str
    limit: int = 1000
    resolved: str | None = None


@dataclass(frozen=True, slots=True)
class ListRequest:
    """List one directory."""

    kind: ClassVar[str] = "ls"
    path: str
    limit: int = 500
    resolved: str | None = None


FileRequest: TypeAlias = (
    ReadRequest | WriteRequest | EditRequest | GrepRequest | FindRequest | ListRequest
)
"""``path`` is absolute in the box, as asked. ``resolved`` is where it lands, set by dispatch before
judging; the box then refuses anything that lands elsewhere."""

Request: TypeAlias = ExecRequest | FileRequest

FileAccess = Literal["read", "write"]


def file_access(request: FileRequest) -> FileAccess:
    """Say whether the request reads or writes the file it names."""
    return "write" if isinstance(request, WriteRequest | EditRequest) else "read"


def to_wire(request: Request) -> dict[str, Any]:
    """Return the request as JSON data, with its ``kind``."""
    return {"kind": request.kind, **asdict(request)}


def request_digest(request: Request) -> Digest:
    """Return the SHA-256 of the request's RFC 8785 canonical bytes."""
    return digest_of(rfc8785.dumps(to_wire(request)))
