"""What a tool call would really do: the one object that is judged, recorded and run.

A tool plans a Request from the model's arguments; policy judges that Request, audit records it,
and the box runs it. ``to_wire`` is its only serial form, and ``request_digest`` its identity: an
approval holds for that digest alone.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
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


@dataclass(frozen=True, slots=True)
class Look:
    """What a call about a process waits for and gives back of its output."""

    wait_s: float = 0.0
    """Seconds, unless the process ends first, or one of these comes."""
    quiet_s: float | None = None
    """Output, and then none for so many seconds."""
    pattern: str | None = None
    """Python regular expression, matched within a line."""
    since: int | None = None
    """Place in the output, in bytes; None goes on where the last answer ended."""
    max_bytes: int = 20_000


@dataclass(frozen=True, slots=True)
class ProcessStart:
    """Run a command line with ``bash -c`` in the background, for as long as the box lives."""

    kind: ClassVar[str] = "process_start"
    command: str
    cwd: str
    """Absolute path in the box."""
    handle: str = ""
    """Set by dispatch before judging where the model gave no name."""
    terminal: bool = False
    look: Look = Look()


@dataclass(frozen=True, slots=True)
class ProcessOutput:
    """Read what a process printed."""

    kind: ClassVar[str] = "process_output"
    handle: str
    look: Look = Look()


@dataclass(frozen=True, slots=True)
class ProcessInput:
    """Type into a process."""

    kind: ClassVar[str] = "process_input"
    handle: str
    text: str
    eof: bool = False
    """Close its standard input after that; in a terminal, type Control-D."""
    look: Look = Look()
    command: str = ""
    """What was started, set by dispatch before judging, as is all that follows."""
    cwd: str = ""
    terminal: bool = False
    typed: str = ""
    """What went in before, as far as it tells what this input means."""
    unread: bool = False
    """Something went in before that could not be read."""
    pending: tuple[str, ...] = ()
    """Pieces of a line that were typed and not ended: the program may still hold them."""


ProcessSignalName: TypeAlias = Literal[
    "INT", "TERM", "KILL", "HUP", "QUIT", "USR1", "USR2", "STOP", "CONT"
]


@dataclass(frozen=True, slots=True)
class ProcessSignal:
    """Signal a process and everything that it started."""

    kind: ClassVar[str] = "process_signal"
    handle: str
    signal: ProcessSignalName = "TERM"
    look: Look = Look()


@dataclass(frozen=True, slots=True)
class ProcessList:
    """Name the processes that were started."""

    kind: ClassVar[str] = "process_list"


ProcessLook: TypeAlias = ProcessStart | ProcessOutput | ProcessInput | ProcessSignal
"""Each gives back what the process printed, after waiting as ``look`` says."""

ProcessRequest: TypeAlias = ProcessLook | ProcessList

Request: TypeAlias = ExecRequest | FileRequest | ProcessRequest

FileAccess = Literal["read", "write"]


def file_access(request: FileRequest) -> FileAccess:
    """Say whether the request reads or writes the file it names."""
    return "write" if isinstance(request, WriteRequest | EditRequest) else "read"


def request_subject(request: Request) -> str:
    """Return what a person must see whole: what would run, or the path or process it is about."""
    if isinstance(request, ExecRequest | ProcessStart):
        return request.command
    if isinstance(request, ProcessInput):
        return typed_subject(request)[0]
    if isinstance(request, ProcessOutput | ProcessSignal):
        return request.handle
    if isinstance(request, ProcessList):
        return ""
    landed = request.resolved
    return request.path if landed in {None, request.path} else f"{request.path} (is {landed})"


def request_cwd(request: Request) -> str:
    """Return the directory in which the request runs something; empty where it runs nothing."""
    if isinstance(request, ExecRequest | ProcessStart | ProcessInput):
        return request.cwd
    return ""


def typed_subject(request: ProcessInput) -> tuple[str, int]:
    """Return an input as a person must see it, and where in that the typed text begins."""
    head = f"typed into {request.handle} ({request.command}):\n"
    return head + "".join(request.pending) + request.text, len(head)


def to_wire(request: Request) -> dict[str, Any]:
    """Return the request as JSON data, with its ``kind``."""
    return {"kind": request.kind, **_plain_fields(request)}


def _plain_fields(words: Any) -> dict[str, Any]:
    # Not asdict, which copies deeply what is frozen anyway.
    return {field.name: _plain(getattr(words, field.name)) for field in fields(words)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return _plain_fields(value) if isinstance(value, Replacement | Look) else value


def request_digest(request: Request) -> Digest:
    """Return the SHA-256 of the request's RFC 8785 canonical bytes."""
    return digest_of(rfc8785.dumps(to_wire(request)))
