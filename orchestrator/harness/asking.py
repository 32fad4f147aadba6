"""Who answers asks in a run: flags decide, and the answers given are remembered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orchestrator.confirmation.answers import (
    BlanketConfirmer,
    NobodyConfirmer,
    RememberingConfirmer,
    load_answers,
)
from orchestrator.confirmation.gate import Confirmer, Scope
from orchestrator.errors import UsageError
from orchestrator.harness.options import RunOptions


def confirmer_for(options: RunOptions, person: Confirmer) -> Confirmer:
    """Return the confirmer of a run; ``person`` is the front door's own."""
    answering = _answering(options.approve, person)
    if options.yolo:
        answering = BlanketConfirmer(answering)
    return RememberingConfirmer(answering)


def _answering(approve: str | None, person: Confirmer) -> Confirmer:
    if approve in {None, "ask"}:
        return person
    if approve == "deny":
        return NobodyConfirmer()
    path = Path(str(approve))
    if not path.is_file():
        raise UsageError(
            f"--approve {approve}: expected ask, deny or an answers file, found no such file"
        )
    return load_answers(path)


def offered_scopes(allowed: Sequence[str]) -> tuple[Scope, ...]:
    """Return the scopes of this version that policy allows; once is always one of them."""
    return ("once", "session") if "session" in allowed else ("once",)
