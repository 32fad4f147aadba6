"""A model call of the box, as it is recorded: before it leaves, and when it is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from orchestrator.schema.egress import Caller
from orchestrator.schema.ids import Digest
from orchestrator.schema.message import Usage


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What is about to leave, or was refused; the conversation itself is in no record."""

    number: int
    """Of the session's calls."""
    method: str
    path: str
    """Without its query; scrub it before it is kept."""
    body_bytes: int
    body_digest: Digest | None
    """Of what the program sent; None where it sent nothing."""
    caller: Caller | None
    asked: str = ""
    """The model as the program named it; empty where it named none."""
    provider: str = ""
    model: str = ""
    """By the provider's own name; empty where none was chosen."""
    effect: str = "allow"
    rule: str = ""
    reason: str = ""
    """Why it was refused."""
    changes: tuple[str, ...] = ()
    """What was changed in the request: ``model``, ``max_tokens``, ``hosted tools``, ``store``."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How it ended."""

    status: int | None
    """Of the provider's answer; None without one."""
    bytes_up: int = 0
    bytes_down: int = 0
    usage: Usage | None = None
    """None where nothing was counted: a list of models, an error."""
    estimated: bool = False
    """The provider did not report all of the usage; it is taken from the bytes, rather too much."""
    cost_usd: float | None = None
    duration_ms: float = 0.0
    problem: str = ""
    """Why it ended early; empty for an end in order."""


class CallDesk(Protocol):
    """Where calls are recorded."""

    async def begin(self, call: ModelCall) -> None:
        """Return when it is on disk; whatever is raised means that the call must not happen."""
        ...

    async def end(self, call: ModelCall, outcome: CallOutcome) -> None:
        """Take note of the end of what ``begin`` let pass."""
        ...
