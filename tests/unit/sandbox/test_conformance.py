"""The suite itself: a box that breaks the contract must not pass it."""

from dataclasses import replace

import anyio
import pytest

from orchestrator.sandbox.conformance import (
    COMMANDS,
    Subject,
    check_cancellation,
    check_commands,
    check_end,
    check_files,
    check_hang_up,
    check_no_server,
    check_overlap,
    check_pipes,
    check_probe,
    check_refusals,
    check_streaming,
    check_terminal,
    check_time_out,
    check_typing,
)
from orchestrator.sandbox.scripted import Reply, ScriptedBox, ScriptedLifecycle
from orchestrator.sandbox.scripted_stream import ScriptedStream
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.posture import Posture
from tests.support.boxes import small_spec


class Silent(ScriptedBox):
    async def execute(self, request, **_):
        return await super().execute(request)


class Patient(ScriptedBox):
    async def execute(self, request, **_):
        if request.kind == "exec":
            request = replace(request, timeout_s=1000)
            return await super().execute(replace(request, command="echo hello"))
        return await super().execute(request)


class OneByOne(ScriptedBox):
    def __init__(self, commands):
        super().__init__(commands)
        self.lock = anyio.Lock()

    async def execute(self, request, **_):
        async with self.lock:
            return await super().execute(request)


class Forgetful(ScriptedBox):
    async def execute(self, request, **_):
        if request.kind == "write":
            return Outcome(data={"bytes": 8, "created": True, "diff": ""})
        return await super().execute(request)


class Undying(ScriptedBox):
    def stop(self):
        pass


class Welcoming(ScriptedBox):
    async def open_stream(self, _target, **_):
        return ScriptedStream(b"welcome", exit_code=0)


WRONG = {**COMMANDS, "echo hello": Reply("goodbye\n")}


@pytest.mark.parametrize(
    ("check", "box"),
    [
        (check_commands, ScriptedBox(WRONG)),
        (check_cancellation, ScriptedBox(WRONG)),
        (check_streaming, Silent(COMMANDS)),
        (check_time_out, Patient(COMMANDS)),
        (check_overlap, OneByOne(COMMANDS)),
        (check_files, Forgetful(COMMANDS)),
        (check_refusals, Forgetful(COMMANDS)),
        (check_probe, ScriptedBox(COMMANDS, posture=Posture(controls={}))),
        (check_end, Undying(COMMANDS)),
        (check_terminal, Welcoming(COMMANDS)),
        (check_typing, Welcoming(COMMANDS)),
        (check_hang_up, Welcoming(COMMANDS)),
        (check_no_server, Welcoming(COMMANDS)),
        (check_pipes, Welcoming(COMMANDS)),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_breach_is_found(check, box):
    """Each check can fail."""
    spec = small_spec("scripted")
    lifecycle = ScriptedLifecycle(boxes={spec.session: box})

    with pytest.raises((AssertionError, KeyError)):
        anyio.run(check, Subject(lifecycle, spec, box))
