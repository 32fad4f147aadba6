"""One word of a command with the role its program's entry gives it."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.shell.analysis import Word
from orchestrator.shell.invocation import Invocation
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.setting import Site

_MAX_SHOWN = 60
"""Characters of a word in a reason."""


@dataclass(frozen=True, slots=True)
class Part:
    """A word, its role, and whom it belongs to."""

    role: str
    word: Word
    label: str
    """Program and option, for messages."""
    use: Invocation
    site: Site

    @property
    def path(self) -> str | None:
        """The word as an absolute path; None when the directory is unknown."""
        return self.site.scope.absolute(self.word.shape)

    @property
    def shown(self) -> str:
        """The word for a message, cut to a readable length."""
        text = self.word.shape.replace(DYNAMIC, "…")
        return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
