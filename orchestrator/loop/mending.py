"""What can be changed about a request that its provider refused, so that it is asked once more."""

from __future__ import annotations

from orchestrator.context.speech import Speech
from orchestrator.errors import ModelError
from orchestrator.loop.one_run import OneRun
from orchestrator.loop.seams import Context


async def mend(error: ModelError, run: OneRun, *, context: Context, speech: Speech) -> bool:
    """Say whether what the provider refused is left out now, or shorter.

    Each time less is left that could be, so asking again after every refusal comes to an end.
    """
    if error.kind == "thoughts_refused":
        return await context.forget_thoughts(speech)
    if error.kind == "too_large" and await context.lighten(speech):
        return True
    return error.kind in {"overflow", "too_large"} and await shrink(run, context, speech)


async def shrink(run: OneRun, context: Context, speech: Speech) -> bool:
    """Have the conversation compacted, unless it was since the last answer."""
    if run.shrunk:
        return False
    run.shrunk = True
    return await context.shrink(speech)
