"""Everything a run tells its observers, in order; ``--json`` prints these and nothing else.

Observers may be dropped at any time: nothing here decides anything. ``encode_event`` gives the
line form shared by every front door.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Literal

from orchestrator.schema import head_event
from orchestrator.schema.event_base import Event

RunStatus = Literal["done", "failed", "needs_approval", "limit", "interrupted"]


@dataclass(frozen=True, slots=True)
class SessionStart(Event):
    """A session is up: its box has proved its controls."""

    type: ClassVar[str] = "session_start"
    model: str
    policy: Mapping[str, Any]
    image: str
    posture: Mapping[str, Any]
    workspace: Mapping[str, Any] = field(default_factory=dict)
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class TurnStart(Event):
    """A model call begins."""

    type: ClassVar[str] = "turn_start"
    turn: int


@dataclass(frozen=True, slots=True)
class TurnEnd(Event):
    """A model call and the tool calls it asked for are through."""

    type: ClassVar[str] = "turn_end"
    turn: int
    stop_reason: str
    usage: Mapping[str, int]
    cumulative_tokens: int


@dataclass(frozen=True, slots=True)
class MessageDelta(Event):
    """A piece of what the model is saying."""

    type: ClassVar[str] = "message_delta"
    kind: Literal["text", "thinking"]
    text: str


@dataclass(frozen=True, slots=True)
class MessageEnd(Event):
    """A whole assistant message, in its stored form."""

    type: ClassVar[str] = "message_end"
    message: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolStart(Event):
    """A tool call is about to be judged."""

    type: ClassVar[str] = "tool_start"
    call: str
    name: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class DecisionMade(Event):
    """Policy has spoken; ``answered_by`` says who answered an ask."""

    type: ClassVar[str] = "decision"
    call: str
    effect: str
    rule: str
    layer: str
    reason: str
    risks: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    answered_by: str | None = None


@dataclass(frozen=True, slots=True)
class ApprovalRequest(Event):
    """Somebody is being asked."""

    type: ClassVar[str] = "approval_request"
    id: str
    call: str
    question: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ApprovalAnswer(Event):
    """An ask was answered."""

    type: ClassVar[str] = "approval_answer"
    id: str
    answer: str
    scope: str
    by: str


@dataclass(frozen=True, slots=True)
class ToolUpdate(Event):
    """Output of a running call, redacted."""

    type: ClassVar[str] = "tool_update"
    call: str
    text: str


@dataclass(frozen=True, slots=True)
class ProgramOutput(Event):
    """What a wrapped program said, redacted; only where its output goes nowhere else."""

    type: ClassVar[str] = "program_output"
    call: str
    source: Literal["stdout", "stderr"]
    text: str


@dataclass(frozen=True, slots=True)
class UnexpectedExec(Event):
    """A command started a program that policy would have asked about, and its text did not show."""

    type: ClassVar[str] = "unexpected_exec"
    call: str
    argv: tuple[str, ...]
    path: str
    risks: tuple[str, ...]
    rule: str
    layer: str
    reason: str
    ended: bool
    """Policy had everything ended that the command started."""


@dataclass(frozen=True, slots=True)
class ModelCallInBox(Event):
    """A program in the box asked for a model and was refused, or its call is over.

    ``asked`` is the model as the program named it; ``usage`` is empty where nothing was counted,
    ``estimated`` where the provider did not report it all.
    """

    type: ClassVar[str] = "model_call_in_box"
    number: int
    effect: str
    rule: str
    reason: str
    provider: str
    model: str
    asked: str
    path: str
    status: int | None
    usage: Mapping[str, int]
    estimated: bool
    cost_usd: float | None
    bytes_up: int
    bytes_down: int
    duration_ms: float
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Egress(Event):
    """Something would have left the box and was refused, or it left and is over.

    ``method`` is null for a connection or a look-up; ``path`` is without its query; bytes are as the
    box sent and got them.
    """

    type: ClassVar[str] = "egress"
    host: str
    port: int
    scheme: str
    method: str | None
    path: str
    effect: str
    rule: str
    layer: str
    reason: str
    bytes_up: int = 0
    bytes_down: int = 0
    status: int | None = None
    problem: str = ""
    answered_by: str | None = None
    program: str = ""
    """That asked for it, as the box says."""


@dataclass(frozen=True, slots=True)
class PolicyChange(Event):
    """The network rules were read anew and hold from now on; `closed` connections were ended."""

    type: ClassVar[str] = "policy_change"
    digest: str
    old_digest: str
    generation: int
    closed: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolEnd(Event):
    """A tool call is over: ``output`` is what the model reads, ``details`` what a person may."""

    type: ClassVar[str] = "tool_end"
    call: str
    name: str
    is_error: bool
    output: str
    details: Mapping[str, Any]
    duration_ms: float


@dataclass(frozen=True, slots=True)
class Retry(Event):
    """A model call failed and will be tried again."""

    type: ClassVar[str] = "retry"
    attempt: int
    delay_ms: float
    reason: str


@dataclass(frozen=True, slots=True)
class LimitReached(Event):
    """A limit ended the work; one conclusion without tools follows."""

    type: ClassVar[str] = "limit"
    kind: str
    value: float
    over: head_event.Over = "run"


@dataclass(frozen=True, slots=True)
class WorkspaceChanged(Event):
    """What the run changed, waiting to be applied or discarded, and the commits it made.

    ``notes`` says what a person must know beside it: a protected path that appeared, say.
    """

    type: ClassVar[str] = "workspace"
    changed: tuple[Mapping[str, Any], ...]
    commits: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SnapshotTaken(Event):
    """A turn's file changes are kept; `glovebox rewind` brings them back."""

    type: ClassVar[str] = "snapshot"
    number: int
    turn: int
    added: int
    modified: int
    deleted: int


@dataclass(frozen=True, slots=True)
class ErrorRaised(Event):
    """Something failed; the run may go on or end."""

    type: ClassVar[str] = "error"
    where: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class SessionEnd(Event):
    """The last event of a run."""

    type: ClassVar[str] = "session_end"
    status: RunStatus
    exit_code: int
    turns: int
    usage: Mapping[str, int]
    cost_usd: float | None
    answer: str = ""


Observer = Callable[[Event], None]
"""Called in order on the event loop's thread; must not block."""


def event_kinds() -> tuple[type[Event], ...]:
    """Return every event's class: those of this page, and those of the head."""
    # ``slots=True`` makes a second class, and the first stays listed until it is collected.
    kinds = {kind.type: kind for kind in Event.__subclasses__()}.values()
    of_head = head_event.__name__
    return tuple(sorted(kinds, key=lambda kind: kind.__module__ == of_head))


def event_types() -> dict[str, tuple[str, ...]]:
    """Return every event's type word with its field names, for docs and their check."""
    return {kind.type: tuple(item.name for item in fields(kind)) for kind in event_kinds()}


def encode_event(event: Event, *, seq: int, time: str, session: str) -> dict[str, Any]:
    """Return the event's line form; ``time`` is RFC 3339 UTC."""
    return {"type": event.type, "seq": seq, "time": time, "session": session, **asdict(event)}
