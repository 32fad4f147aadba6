"""The checks of the way out: a box that breaks the contract must not pass them."""

from contextlib import asynccontextmanager

import anyio
import pytest

from orchestrator.sandbox.conformance import COMMANDS
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from orchestrator.sandbox.way_conformance import LEAVE, check_failure, check_open


class AlwaysOpen(ScriptedBox):
    async def execute(self, request, **more):
        outcome = await super().execute(request, **more)
        outcome.data["exit_code"] = 0
        return outcome


class NeverOpen(ScriptedBox):
    @asynccontextmanager
    async def let_out(self, *_):
        yield


class Inventive(ScriptedBox):
    def __init__(self):
        super().__init__({LEAVE: Reply("heard hello\n")})


@pytest.mark.parametrize("box", [AlwaysOpen(COMMANDS), NeverOpen(COMMANDS), Inventive()])
def test_breach_is_found(box):
    """Each can fail."""
    with pytest.raises(AssertionError):
        anyio.run(check_open, box, "/workspace")


def test_invented_answer_is_found():
    """What failed outside has no answer."""
    with pytest.raises(AssertionError):
        anyio.run(check_failure, Inventive(), "/workspace")
