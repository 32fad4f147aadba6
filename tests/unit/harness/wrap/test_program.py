"""A program before it starts: judged as a command is, in a scripted box."""

from types import SimpleNamespace

import anyio
import pytest

from orchestrator.config.settings import ApprovalsSettings
from orchestrator.dispatch.output import OutputFilter
from orchestrator.harness.governed import govern
from orchestrator.harness.options import NO_MODEL
from orchestrator.harness.wrap.program import NotAllowedError, Program
from orchestrator.harness.wrap.watching import Watching
from orchestrator.redaction.redactor import Redactor
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from orchestrator.schema.event import ToolEnd, ToolStart
from tests.support.seats import PipedSeat


class Kept(list):
    def append(self, kind, body):
        super().append((kind, body))


def ground(governed, box):
    audit, events, turns = Kept(), [], []
    output = OutputFilter(Redactor({}))
    return SimpleNamespace(
        judge=governed.judge("0" * 12, audit, output, observe=events.append),
        execs=governed.execs(audit, output, observe=events.append),
        room=SimpleNamespace(box=box),
        record=SimpleNamespace(audit=audit, open_turn=lambda said, _: turns.append(said)),
        output=output,
        observe=events.append,
        turns=turns,
        events=events,
    )


def played(options, paths, front, argv, **box):
    async def play():
        governed = await govern(
            options(model=NO_MODEL, approve="deny"), ApprovalsSettings(), paths, front=front
        )
        found = ground(governed, ScriptedBox(**box))
        program, seat = (
            Program(found, argv, seconds=60.0, watching=Watching(found.execs)),
            PipedSeat(),
        )
        try:
            end = await program.run(seat)
        except NotAllowedError as refused:
            return found, program, str(refused), None
        return found, program, end, seat.said

    return anyio.run(play)


def test_what_was_judged_is_what_runs(options, paths, front):
    """Words with spaces and signs stay words; what it started is in the outcome."""
    command = "say 'a b' '$HOME'"
    reply = Reply("said\n", exit_code=4, execs=(("say", "a b"),))
    found, program, end, said = played(
        options, paths, front, ["say", "a b", "$HOME"], commands={command: reply}
    )

    assert said["stdout"] == b"said\n"
    assert (end.end.exit_code, end.left, program.started) == (4, "ended", True)
    kinds = dict(found.record.audit)
    assert kinds["intent"]["request"]["command"] == command
    assert kinds["outcome"]["execs"]["count"] == 1
    assert [type(event) for event in found.events if isinstance(event, ToolStart | ToolEnd)] == [
        ToolStart,
        ToolEnd,
    ]
    assert command in found.turns[0]


@pytest.mark.parametrize("argv", [["git", "push"], ["sh", "-c", "git push"]])
def test_refusal_starts_nothing(options, paths, front, argv):
    """It is recorded with its reason."""
    found, program, refused, _ = played(options, paths, front, argv)

    assert "git push" not in found.turns
    assert not program.started
    assert "risk:publishes" in refused
    assert [kind for kind, _ in found.record.audit][-1] == "refused"
