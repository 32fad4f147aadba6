"""A directory that nobody has worked on here yet: who vouches for what is in it?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.confirmation.gate import Confirmer, Question
from orchestrator.harness.trust import TrustStore
from orchestrator.schema.decision import Decision
from orchestrator.schema.ids import Digest, digest_of
from orchestrator.schema.terminal_text import escape_terminal

UNVOUCHED = "untrusted-repo"
"""The shipped policy for what nobody vouches for."""
ANSWER_S = 600.0


@dataclass(frozen=True, slots=True)
class Newcomer:
    """Asks once a directory, and knows the answers."""

    paths: Paths
    person: Confirmer | None
    """Who is there to be asked; None where nobody is."""
    note: Callable[[str], None]

    async def policies(self, project: Path, usual: tuple[str, ...]) -> tuple[str, ...]:
        """Return the policies for a project: the usual ones where it is vouched for.

        Not knowing is no vouching: where a person was asked and did not say yes, what is in the
        directory is treated as a stranger's. Where nobody can be asked the usual policies hold,
        and that is said.
        """
        store = TrustStore(self.paths)
        known = await to_thread.run_sync(store.vouched, project)
        if known is None and await to_thread.run_sync(_has_history, project, self.paths):
            known = True
        if known is None and self.person is None:
            self.note(_nobody(project, usual))
            return usual
        if known is None and self.person is not None:
            answer = await self.person.ask(vouching_question(project), timeout_s=ANSWER_S)
            known = answer.yes
            if answer.by not in {"nobody", "timeout"}:
                store.vouch(project, yes=answer.yes, by=answer.by)
        if not known:
            self.note(f"nobody vouches for {escape_terminal(str(project))}: policy {UNVOUCHED}")
        return usual if known else (UNVOUCHED,)


def vouching_question(project: Path) -> Question:
    """Return the question about a directory; a yes is kept for it, a no too."""
    return Question(
        id=_digest(project)[7:19],
        call="vouch",
        tool="this directory is new here: do you vouch for what is in it?",
        subject=str(project),
        cwd=str(project),
        decision=Decision(
            effect="ask",
            rule="new-project",
            layer="built-in",
            reason="files of a stranger can mislead an agent and run code in the box",
            unyielding=True,
            notes=(
                f"yes: your usual policy; no: {UNVOUCHED}, no live mount, no downloaded code",
                "glovebox trust --revoke forgets the answer",
            ),
        ),
        digest=_digest(project),
        scopes=("once",),
        kept_for="this directory",
    )


def _digest(project: Path) -> Digest:
    return digest_of(f"vouch {project}".encode())


def _has_history(project: Path, paths: Paths) -> bool:
    """Say whether sessions were held here before there was such a question, or it is empty."""
    sessions = paths.project_sessions(project)
    held = sessions.is_dir() and any(sessions.iterdir())
    return held or not any(project.iterdir())


def _nobody(project: Path, usual: tuple[str, ...]) -> str:
    return (
        f"{escape_terminal(str(project))} is new here and nobody can be asked: policy "
        f"{'+'.join(usual)} holds; --policy {UNVOUCHED} is for a stranger's files, "
        "glovebox trust answers beforehand"
    )
