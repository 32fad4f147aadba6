"""Calls of the past from real chains."""

import anyio

from orchestrator.confirmation.gate import Answer
from orchestrator.harness.recorded_calls import recorded_calls
from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.load import load_policy
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from orchestrator.schema.request import ExecRequest, WriteRequest
from tests.support.corridor import YES, call, open_corridor
from tests.unit.policy.conftest import SHIPPED


def test_calls_come_back_with_their_decisions_and_answers(tmp_path):
    """Allowed, asked, refused; what was never decided on is left out."""
    policy = load_policy(["default"], search=SHIPPED, user_file=None)
    corridor = open_corridor(
        tmp_path,
        ScriptedBox({"ls": Reply(), "git push": Reply()}),
        evaluate=lambda request, tool: evaluate(policy, request, tool=tool),
        answers=[YES, Answer(yes=False, by="scripted")],
    )
    calls = [
        call("bash", 1, command="ls"),
        call("bash", 2, command="git push"),
        call("bash", 3, command="git push --force"),
        call("nothing", 4),
        call("write", 5, path="big.txt", content="x" * 40_000),
    ]
    for one in calls:
        anyio.run(corridor.dispatcher.dispatch, [one])
    corridor.audit.append("intent", {"call": "x", "tool": "t", "decision": {"effect": "maybe"}})
    corridor.audit.close()
    found = recorded_calls(corridor.audit_file)

    assert [(item.effect, item.answer) for item in found.calls] == [
        ("allow", None),
        ("ask", True),
        ("ask", False),
        ("allow", None),
    ]
    assert isinstance(found.calls[0].request, ExecRequest)
    last = found.calls[-1].request
    assert isinstance(last, WriteRequest)
    assert len(last.content) == 40_000
    assert len(found.skipped) == 1
