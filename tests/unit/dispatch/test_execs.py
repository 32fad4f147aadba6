"""What commands started: in the audit whole, told where it was unexpected, ended where policy says."""

import json

import anyio
import pytest

from orchestrator.dispatch.execs import Execs
from orchestrator.dispatch.started_programs import MOST_KEPT
from orchestrator.policy.evaluate import evaluate_command
from orchestrator.policy.exec_time import UNSEEN
from orchestrator.policy.load import load_policy
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from orchestrator.schema.decision import Decision
from orchestrator.schema.event import UnexpectedExec
from orchestrator.schema.exec_record import ExecReport
from orchestrator.schema.request import ExecRequest
from tests.support.corridor import call, open_corridor
from tests.unit.policy.conftest import SHIPPED

PUSH = ("git", "push", "origin", "main")
SECRET = "correct-horse-battery-staple-7"


def run(folder, execs, *, unexpected="report", known=None):
    policy = load_policy(["default"], search=SHIPPED, user_file=None)
    corridor = open_corridor(
        folder,
        ScriptedBox({"make": Reply("made\n", execs=tuple(execs))}),
        judge_exec=lambda request: evaluate_command(policy, request),
        unexpected=unexpected,
        known=known,
    )
    (result,) = anyio.run(corridor.dispatcher.dispatch, [call("bash", 1, command="make")])
    corridor.audit.close()
    records = [json.loads(line) for line in corridor.audit_file.read_text().splitlines()]
    return result, corridor.of(UnexpectedExec), records


def bodies(records, kind):
    return [record["body"] for record in records if record["type"] == kind]


def test_everything_started_is_in_the_outcome(tmp_path):
    """With its arguments, and how often."""
    _, told, records = run(tmp_path, [("gcc", "a.c"), ("gcc", "a.c"), ("ld", "-o", "a")])
    (outcome,) = bodies(records, "outcome")

    assert outcome["execs"]["count"] == 3
    assert [(item["argv"], item["times"]) for item in outcome["programs"]] == [
        (["gcc", "a.c"], 2),
        (["ld", "-o", "a"], 1),
    ]
    assert told == []


def test_unexpected_program_is_told_and_recorded(tmp_path):
    """The call goes on: policy only wants to know."""
    result, (told,), records = run(tmp_path, [("gcc", "a.c"), PUSH])
    (body,) = bodies(records, "unexpected_exec")

    assert (told.call, told.argv, told.ended) == (str(call("bash", 1).id), PUSH, False)
    assert "publishes" in told.risks
    assert body["argv"] == list(PUSH)
    assert body["path"] == "/usr/bin/git"
    assert not body["ended"]
    assert result.output.startswith("made")


def test_policy_may_end_the_call(tmp_path):
    """The model is told which program it was."""
    result, (told,), records = run(tmp_path, [PUSH], unexpected="end")

    assert told.ended
    assert result.is_error
    assert "it started a program that policy does not allow unasked" in result.output
    assert "git push origin main" in result.output
    assert bodies(records, "unexpected_exec")[0]["ended"]


def test_flood_is_told_in_part_and_counted_whole(tmp_path):
    """Each program once for each rule; nothing is lost from the count."""
    pushes = [("git", "push", f"branch-{number}") for number in range(MOST_KEPT + 50)]
    deletes = [("rm", "-rf", f"folder-{number}") for number in range(50)]
    _, told, records = run(tmp_path, [*pushes, *deletes])
    (outcome,) = bodies(records, "outcome")

    assert [item.argv[0] for item in told] == ["git", "rm"]
    assert len(bodies(records, "unexpected_exec")) == 2
    assert outcome["execs"]["count"] == MOST_KEPT + 100
    assert outcome["execs"]["unlisted"] == 100
    assert outcome["execs"]["unexpected"] == MOST_KEPT + 100


@pytest.mark.parametrize("unexpected", ["report", "end"])
def test_secrets_in_arguments_are_nowhere(tmp_path, unexpected):
    """Not in an event, the audit or the answer."""
    result, told, records = run(
        tmp_path,
        [("git", "push", f"https://u:{SECRET}@x.example/y")],
        unexpected=unexpected,
        known={"key": SECRET},
    )

    assert told
    assert SECRET not in json.dumps(records) + result.output + repr(told)


@pytest.mark.parametrize("unexpected", ["report", "end"])
def test_more_than_can_be_looked_at_is_unexpected_itself(tmp_path, unexpected):
    """Nobody knows what is among them; it is told once."""
    told = []
    corridor = open_corridor(tmp_path, ScriptedBox({}), unexpected=unexpected, observe=told.append)
    execs = Execs(
        lambda _request: Decision("allow", "r", "session", "fine"),
        audit=corridor.audit,
        output=corridor.output,
        observe=told.append,
        unexpected=unexpected,
    )
    watched = execs.watch(call("bash", 1), ExecRequest("make", "/workspace", 1.0))
    flood = ExecReport((), unlisted=9, overflow=True)

    assert [watched.hear(flood), watched.hear(flood)] == [unexpected == "end", False]
    assert [event.rule for event in told] == [UNSEEN]
    assert watched.settle()["execs"] == {"count": 18, "unlisted": 18, "unexpected": 1}
