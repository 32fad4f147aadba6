"""The Protocol of a confirmer: a question, an answer, and silence means no."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol, TypeAlias

from orchestrator.schema.decision import Decision
from orchestrator.schema.ids import Digest
from orchestrator.schema.likeness import Likeness

Scope: TypeAlias = str
"""``once``, ``session``, a duration such as ``30m``, or ``project``; see ``scopes``."""

PERSONS = frozenset({"terminal", "inbox", "webhook"})
"""Channels behind which somebody decides."""


def utc_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


def _as_it_is(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked; ``digest`` names exactly what will run on a yes."""

    id: str
    call: str
    tool: str
    subject: str
    """The whole command, or the path a file tool touches; raw, shown only escaped."""
    cwd: str
    """Empty where there is none."""
    decision: Decision
    digest: Digest
    scopes: tuple[Scope, ...] = ("once", "session")
    """How long a yes may hold, as policy allows."""
    body: str = ""
    """A diff or content to show with it; raw, shown only escaped."""
    kept_for: str = ""
    """What either answer is kept for beyond this run; empty where it is not."""
    session: str = ""
    """Empty for a question before there is a session."""
    project: str = ""
    """The host's directory that the session works on."""
    likeness: Likeness = field(default_factory=Likeness)
    recorded: str = ""
    """What records keep in place of the subject; empty for the subject itself."""
    created: datetime = field(default_factory=utc_now)
    expires: datetime | None = None
    aside: bool = False
    """About what a program does beside the agent's calls: theirs go first where one at a time is shown."""
    scrub: Callable[[str], str] = field(default=_as_it_is, repr=False, compare=False)
    """Takes known secrets out of what leaves this process."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A yes holds for the question's digest; a wider scope also for equal digests later."""

    yes: bool
    by: str
    """``terminal``, ``inbox``, ``webhook``, ``file``, ``yolo``, ``memory``, ``limit``, ``nobody``,
    ``unaskable``, ``timeout`` or ``scripted``."""
    scope: Scope = "once"
    reason: str = ""
    """On a no, told to the model."""
    who: str = ""
    """The person, as far as the channel knows."""
    via: str = ""
    """Where from: a terminal, a command, an address."""
    widened: bool = False
    """The yes covers the question's pattern too."""
    grant: str = ""
    """Id of the yes that stands: the earlier one that answered, or the one that this became."""
    lost: tuple[Answer, ...] = ()
    """Answers that came too late to count."""


class Confirmer(Protocol):
    """Whoever answers."""

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return the answer; no answer within ``timeout_s`` seconds is a no by ``timeout``."""
        ...
