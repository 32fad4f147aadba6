"""Answering beforehand about a project's policy and image; ``glovebox trust`` asks through it."""

from __future__ import annotations

from contextlib import closing
from functools import partial

from anyio import to_thread

from orchestrator.confirmation.gate import Question
from orchestrator.confirmation.question_text import render_question
from orchestrator.errors import UsageError
from orchestrator.harness.image_question import image_question
from orchestrator.harness.options import RunOptions
from orchestrator.harness.project_file import WHAT
from orchestrator.harness.project_image import ProjectAsker
from orchestrator.harness.project_policy import (
    ProjectPolicy,
    keep_policy,
    project_policies,
)
from orchestrator.harness.project_question import policy_question
from orchestrator.harness.trust import TrustAnswer, TrustStore, now

COLUMNS = 100
"""Of the question where no terminal says how wide it is; a digest fits on its line."""


async def answer_project(
    asker: ProjectAsker, options: RunOptions, *, yes: str | None = None
) -> TrustAnswer | None:
    """Ask about the project's image and keep the answer; None where it describes none.

    ``yes`` is the digest a person has seen elsewhere: it answers for exactly those inputs. Raises
    UsageError where that is not the present digest, and where nobody can be asked: the question
    is shown all the same, for whoever decides later.
    """
    inputs = await to_thread.run_sync(partial(asker.inputs, options, strict=True))
    if inputs is None:
        return None
    with closing(inputs):
        store = TrustStore(asker.paths)
        if yes is not None:
            if yes != inputs.digest:
                raise UsageError(
                    f"--yes {yes}: the present digest is {inputs.digest}",
                    hint="look at what changed, without --yes, before you answer",
                )
            return store.remember(
                options.directory, inputs.digest, what=inputs.what, yes=True, by="flag"
            )
        answer = await asker.ask(options.directory, inputs)
        if answer.by == "nobody":
            _show(asker, image_question(options.directory, inputs, asker.policy))
        if answer.by in {"nobody", "timeout"}:
            raise UsageError(
                f"trust {inputs.what}: there is nobody to ask; its digest is {inputs.digest}",
                hint="run it in a terminal, or give --yes with the digest you have seen",
            )
        return store.remember(
            options.directory, inputs.digest, what=inputs.what, yes=answer.yes, by=answer.by
        )


async def answer_policies(
    asker: ProjectAsker, options: RunOptions, *, yes: str | None = None
) -> list[TrustAnswer]:
    """Ask about each of the project's own policies that no person knows as it is, and keep a yes.

    ``yes`` answers for the one with that digest and leaves the others. Raises UsageError where
    nobody can be asked: the question is shown all the same.
    """
    answers = []
    for policy in await to_thread.run_sync(project_policies, options.directory, asker.paths):
        if yes is not None:
            if yes == policy.digest:
                keep_policy(policy, asker.paths, by="flag")
                answers.append(_answer(policy, yes=True, by="flag"))
        elif not policy.is_known:
            answers.append(await _asked(asker, policy))
    return answers


async def _asked(asker: ProjectAsker, policy: ProjectPolicy) -> TrustAnswer:
    question = policy_question(policy)
    answer = await asker.confirmer.ask(question, timeout_s=asker.policy.approvals.timeout)
    if answer.by in {"nobody", "timeout"}:
        if answer.by == "nobody":
            _show(asker, question)
        raise UsageError(
            f"trust {policy.root / WHAT}: there is nobody to ask; its digest is {policy.digest}",
            hint="run it in a terminal, or give --yes with the digest you have seen",
        )
    if answer.yes:
        keep_policy(policy, asker.paths, by=answer.by)
    return _answer(policy, yes=answer.yes, by=answer.by)


def _answer(policy: ProjectPolicy, *, yes: bool, by: str) -> TrustAnswer:
    return TrustAnswer(
        digest=policy.digest,
        what=str(policy.root / WHAT),
        answer="yes" if yes else "no",
        by=by,
        time=now(),
        kind="policy",
    )


def _show(asker: ProjectAsker, question: Question) -> None:
    for row in render_question(question, COLUMNS):
        asker.note(row)
