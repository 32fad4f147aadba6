"""The audit's words for one tool call."""

from orchestrator.audit.entry import plain_body
from orchestrator.confirmation.gate import Answer
from orchestrator.dispatch.records import (
    answer_body,
    decision_body,
    intent_body,
    outcome_body,
    refusal_body,
)
from orchestrator.schema.decision import Decision
from orchestrator.schema.ids import CallId, digest_of
from orchestrator.schema.message import ToolResult
from orchestrator.schema.request import ExecRequest, request_digest
from tests.support.corridor import call, raw_call

ASKED = Decision("ask", "risk:publishes", "org", "publishes", risks=("publishes",), span=(0, 8))
PUSH = ExecRequest("git push", "/workspace", 5.0)
YES = Answer(yes=True, by="terminal", scope="session", reason="go")


def test_decision_is_recorded_whole():
    """Who voted what on which part, and why."""
    assert decision_body(ASKED) == {
        "effect": "ask",
        "rule": "risk:publishes",
        "layer": "org",
        "reason": "publishes",
        "risks": ["publishes"],
        "span": [0, 8],
    }
    assert decision_body(Decision("allow", "r", "org", ""))["span"] is None


def test_answer_is_recorded_where_there_was_one():
    """No answer is no record of one."""
    assert answer_body(YES) == {"yes": True, "by": "terminal", "scope": "session", "reason": "go"}
    assert answer_body(None) is None


def test_intent_holds_the_request_and_its_digest():
    """What will run, as it will run."""
    body = intent_body(call("bash", command="git push"), PUSH, ASKED, answer=YES)

    assert body["digest"] == request_digest(PUSH)
    assert body["request"] == {
        "kind": "exec",
        "command": "git push",
        "cwd": "/workspace",
        "timeout_s": 5.0,
    }
    assert (body["call"], body["tool"]) == ("call_1", "bash")
    assert (body["decision"], body["answer"]) == (decision_body(ASKED), answer_body(YES))
    assert plain_body(body) == body


def test_refusal_holds_the_request_or_what_was_sent():
    """Never both, and raw arguments not without end."""
    planned = refusal_body(call("bash"), "no", request=PUSH, decision=ASKED, answer=YES)
    unplanned = refusal_body(
        raw_call("bash", "x" * 9000), "no", request=None, decision=None, answer=None
    )

    assert planned["request"]["command"] == "git push"
    assert planned["raw_arguments"] is None
    assert planned["decision"]["effect"] == "ask"
    assert (unplanned["request"], unplanned["decision"]) == (None, None)
    assert unplanned["raw_arguments"] == "x" * 2000


def test_outcome_holds_facts_and_the_digest_of_the_output():
    """The output itself is in the session; odd text and unknown facts break nothing."""
    result = ToolResult(CallId("call_1"), "bash", "half \ud83d", is_error=True)
    body = outcome_body(result, duration_ms=12.6, data={"exit_code": 1, "head": "half"})

    assert body["facts"] == {"exit_code": 1}
    assert body["output_digest"] == digest_of(b"half ?")
    assert (body["output_bytes"], body["duration_ms"], body["is_error"]) == (6, 13, True)
