"""The Protocol of a confirmer: a question, an answer, and silence means no."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from orchestrator.schema.decision import Decision
from orchestrator.schema.ids import Digest

Scope = Literal["once", "session"]


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked; ``digest`` names exactly what will run on a yes."""

    id: str
    call: str
    tool: str
    subject: str
    """The whole command, or the path a file tool touches; raw, shown only escaped."""
    cwd: str
    decision: Decision
    digest: Digest
    scopes: tuple[Scope, ...] = ("once", "session")
    """How long a yes may hold, as policy allows."""
    body: str = ""
    """A diff or content to show with it; raw, shown only escaped."""
    kept_for: str = ""
    """What either answer is kept for beyond this run; empty where it is not."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A yes holds for the question's digest; ``session`` for equal digests until the end."""

    yes: bool
    by: str
    """``terminal``, ``file``, ``yolo``, ``nobody``, ``timeout``, ``scripted`` or ``session``."""
    scope: Scope = "once"
    reason: str = ""
    """On a no, told to the model."""


class Confirmer(Protocol):
    """Whoever answers."""

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return the answer; no answer within ``timeout_s`` seconds is a no by ``timeout``."""
        ...
