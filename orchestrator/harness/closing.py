"""The end of a session, step by step: a step that fails is told, and the next is still taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from orchestrator.errors import GloveboxError
from orchestrator.schema.terminal_text import escape_terminal

SWEEP = "`glovebox gc` removes it, once the engine answers"
"""What to do about something that an engine still has."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A step of an end that failed."""

    what: str
    """What was to be ended, in a word or two."""
    message: str
    """Why it could not be, raw."""
    hint: str
    """What there is to do about it."""
    exit_code: int

    def line(self) -> str:
        """Return it as one line, safe to show."""
        text = f"{self.what}: not ended in order: {self.message}"
        return escape_terminal(f"{text} ({self.hint})" if self.hint else text)


@dataclass(frozen=True, slots=True)
class Closing:
    """One session's; ``tell`` hears of each trouble when it comes."""

    tell: Callable[[Trouble], None]
    troubles: list[Trouble] = field(default_factory=list)

    @classmethod
    def noting(cls, note: Callable[[str], None]) -> Closing:
        """Return one that tells a person, a line each."""
        return cls(lambda trouble: note(trouble.line()))

    def step(self, what: str, *, hint: str = SWEEP) -> Step:
        """Return one step to take as a block; what fails inside ends the step and no more."""
        return Step(self, what, hint)

    def failed(self, what: str, error: GloveboxError | OSError, *, hint: str = SWEEP) -> None:
        """Tell of a step that was taken elsewhere."""
        trouble = Trouble(what, str(error), hint, getattr(error, "exit_code", 1))
        self.troubles.append(trouble)
        self.tell(trouble)


@dataclass(frozen=True, slots=True)
class Step:
    """A block of which a failure is told instead of raised."""

    closing: Closing
    what: str
    hint: str

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> bool:
        """Say whether the failure is told; bugs and cancellation go on."""
        if isinstance(error, GloveboxError | OSError):
            self.closing.failed(self.what, error, hint=self.hint)
            return True
        return False
