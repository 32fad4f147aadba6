"""What is left out of a request that was refused."""

import itertools

import anyio
import pytest

from orchestrator.context.speech import Speech
from orchestrator.errors import ModelError
from orchestrator.loop.circles import Circles
from orchestrator.loop.mending import mend, shrink
from orchestrator.loop.one_run import OneRun
from orchestrator.loop.whole import WholeConversation

SPEECH = Speech("s", ())


class Parts(WholeConversation):
    """A context that has these parts to leave out, each once."""

    def __init__(self, *parts):
        super().__init__(tuple, cache_key="k")
        self.parts = list(parts)

    async def _take(self, part):
        found = part in self.parts
        if found:
            self.parts.remove(part)
        return found

    async def lighten(self, speech):  # noqa: ARG002 - the Context's form
        return await self._take("pictures")

    async def forget_thoughts(self, speech):  # noqa: ARG002 - the Context's form
        return await self._take("thoughts")

    async def shrink(self, speech):  # noqa: ARG002 - the Context's form
        return await self._take("turns")


def mended(kind, context, run):
    error = ModelError("refused", kind=kind)
    return anyio.run(lambda: mend(error, run, context=context, speech=SPEECH))


@pytest.mark.parametrize(
    ("kind", "gone"),
    [
        ("thoughts_refused", ["thoughts"]),
        ("too_large", ["pictures", "turns"]),
        ("overflow", ["turns"]),
        ("bad_request", []),
    ],
)
def test_each_refusal_has_what_is_left_out_for_it(kind, gone):
    """In this order, until there is nothing more to leave out."""
    context, run = Parts("pictures", "thoughts", "turns"), OneRun(Circles(3))
    left = [list(context.parts)]
    while mended(kind, context, run):
        left.append(list(context.parts))

    assert [next(p for p in a if p not in b) for a, b in itertools.pairwise(left)] == gone


def test_conversation_is_shortened_once_until_an_answer_comes():
    run = OneRun(Circles(3))
    assert anyio.run(shrink, run, Parts("turns"), SPEECH)
    assert not anyio.run(shrink, run, Parts("turns"), SPEECH)
