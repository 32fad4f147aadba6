"""Telling a person that a question waits, by a command of their own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence

import anyio

from orchestrator.confirmation.gate import Question

TIMEOUT_S = 10.0


def notice_text(question: Question) -> str:
    """Return what a notice says: nothing that a model or a repository wrote."""
    return f"glovebox: a question waits ({question.id}): may the agent use {question.tool}?"


class NoticeCommand:
    """Runs a command with the text as its last argument; no shell reads either."""

    def __init__(self, command: Sequence[str], *, note: Callable[[str], None]) -> None:
        """``note`` is told where the command does not work."""
        self._command = tuple(command)
        self._note = note

    async def tell(self, question: Question) -> None:
        """Run the command and return when it has ended, or was ended for taking too long."""
        words = [*self._command, notice_text(question)]
        try:
            with anyio.move_on_after(TIMEOUT_S) as scope:
                done = await anyio.run_process(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    check=False,
                )
        except OSError as error:
            self._note(f"approvals.notify: {self._command[0]}: {error.strerror}")
            return
        if scope.cancelled_caught:
            self._note(f"approvals.notify: {self._command[0]}: took more than {TIMEOUT_S:.0f} s")
        elif done.returncode != 0:
            self._note(f"approvals.notify: {self._command[0]}: ended with {done.returncode}")
