"""Asking about a project's own policy: the whole text the first time, later what changed."""

from __future__ import annotations

import difflib

from orchestrator.config.paths import Paths
from orchestrator.confirmation.gate import Confirmer, Question
from orchestrator.harness.project_file import WHAT
from orchestrator.harness.project_policy import ProjectPolicy, keep_policy, unknown_policy
from orchestrator.schema.decision import Decision
from orchestrator.schema.ids import digest_of

FIRST = "this project brings a policy of its own: do you know it, and does it hold?"
CHANGED = "this project's own policy changed: does it hold as it is now?"
GONE = "this project's own policy is gone: may sessions begin without it?"


async def settle_project_policies(
    policies: tuple[ProjectPolicy, ...], paths: Paths, confirmer: Confirmer, *, timeout_s: float
) -> None:
    """Ask about each that is not known and keep a yes; PolicyError where the answer is no."""
    for policy in policies:
        if policy.is_known:
            continue
        answer = await confirmer.ask(policy_question(policy), timeout_s=timeout_s)
        if not answer.yes:
            raise unknown_policy(policy)
        keep_policy(policy, paths, by=answer.by)


def policy_question(policy: ProjectPolicy) -> Question:
    """Return the question; what it shows differs whenever a byte does."""
    asked = GONE if policy.text is None else FIRST if policy.pin is None else CHANGED
    notes = (
        f"file: {policy.root / WHAT}",
        f"digest: {policy.digest}",
        "a project's policy can only tighten what your other layers say",
    )
    decision = Decision(
        effect="ask",
        rule="project-policy",
        layer="built-in",
        reason="a project's rules hold as a person knows them"
        if policy.pin is None
        else "the project's rules are not those that a person said yes to",
        unyielding=True,
        notes=notes,
    )
    return Question(
        id=digest_of(policy.digest.encode())[7:19],
        call="project-policy",
        tool=asked,
        subject=policy.words if policy.pin is None else _difference(policy.pin.text, policy.words),
        cwd=str(policy.root),
        decision=decision,
        digest=digest_of(f"{policy.root}\n{policy.digest}".encode()),
        scopes=("once",),
        kept_for="exactly this text",
    )


def _difference(before: str, after: str) -> str:
    # By line feeds alone: other line ends are characters that must be seen.
    lines = difflib.unified_diff(
        before.split("\n"), after.split("\n"), "known", "now", lineterm="", n=2
    )
    return "\n".join(lines)
