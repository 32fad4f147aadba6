"""Answering beforehand whether a project's image may be used; ``glovebox trust`` asks through it."""

from __future__ import annotations

from contextlib import closing
from functools import partial

from anyio import to_thread

from orchestrator.confirmation.question_text import render_question
from orchestrator.errors import UsageError
from orchestrator.harness.image_inputs import ImageInputs
from orchestrator.harness.image_question import image_question
from orchestrator.harness.options import RunOptions
from orchestrator.harness.project_image import ProjectAsker
from orchestrator.harness.trust import TrustAnswer, TrustStore

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
            _show(asker, options, inputs)
        if answer.by in {"nobody", "timeout"}:
            raise UsageError(
                f"trust {inputs.what}: there is nobody to ask; its digest is {inputs.digest}",
                hint="run it in a terminal, or give --yes with the digest you have seen",
            )
        return store.remember(
            options.directory, inputs.digest, what=inputs.what, yes=answer.yes, by=answer.by
        )


def _show(asker: ProjectAsker, options: RunOptions, inputs: ImageInputs) -> None:
    for row in render_question(image_question(options.directory, inputs, asker.policy), COLUMNS):
        asker.note(row)
