"""Calls of the past from real chains."""

import anyio

from orchestrator.confirmation.gate import Answer
from orchestrator.harness.egress.records import decided_body
from orchestrator.harness.recorded_calls import recorded_calls
from orchestrator.policy.egress_text import parse_egress
from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.load import load_policy
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import EgressVerdict
from orchestrator.schema.request import ExecRequest, WriteRequest, to_wire
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


def _chain(tmp_path, *bodies):
    corridor = open_corridor(tmp_path, ScriptedBox({}), evaluate=None)
    for body in bodies:
        corridor.audit.append("egress", body)
    corridor.audit.close()
    return recorded_calls(corridor.audit_file)


def _leaving(text, **more):
    """A record as the gatekeeper writes it."""
    verdict = EgressVerdict(Decision(effect="allow", rule="r", layer="session", reason="x"))
    body = decided_body(parse_egress(text), verdict, generation=1, caller=None, answered=None)
    return body | more


def test_calls_of_wrapped_agents_count(tmp_path):
    """By the tool that policies know; those judged by a name alone have nothing to judge again."""
    corridor = open_corridor(tmp_path, ScriptedBox({}), answers=[])
    decision = {"effect": "ask", "rule": "risk:publishes"}
    told = {"call": "gate-1", "client": "claude", "decision": decision, "answer": {"yes": True}}
    wire = to_wire(ExecRequest("git push", "/workspace", 5.0))
    corridor.audit.append(
        "client_call", {**told, "tool": "Bash", "known_as": "bash", "request": wire}
    )
    corridor.audit.append(
        "client_call", {**told, "tool": "Task", "known_as": "task", "request": None}
    )
    corridor.audit.close()
    found = recorded_calls(corridor.audit_file)

    [one] = found.calls
    assert (one.tool, one.effect, one.answer) == ("bash", "ask", True)
    assert one.request == ExecRequest("git push", "/workspace", 5.0)
    assert found.skipped == []


def test_what_left_the_box_comes_back_as_it_was_asked(tmp_path):
    """With the answer that was given; of a query only what git asks for."""
    refs = "https://git.example.com/o/r/info/refs?service=git-upload-pack"
    found = _chain(
        tmp_path,
        _leaving("CONNECT a.example.com:443"),
        _leaving("GET wss://a.example.com/ws?token=1", answer={"yes": True, "by": "x"}),
        _leaving(f"GET {refs}"),
        _leaving("GET https://a.example.com/", effect="deny", rule="default:network"),
        _leaving("GET https://a.example.com/x", injected=["vault:api"]),
    )

    assert [item.request for item in found.calls] == [
        parse_egress("CONNECT a.example.com:443"),
        parse_egress("GET wss://a.example.com/ws"),
        parse_egress(f"GET {refs}"),
        parse_egress("GET https://a.example.com/"),
        parse_egress("GET https://a.example.com/x"),
    ]
    assert [item.injected for item in found.calls] == [(), (), (), (), ("vault:api",)]
    assert [(item.tool, item.effect, item.answer) for item in found.calls] == [
        ("egress", "allow", None),
        ("egress", "ask", True),
        ("egress", "allow", None),
        ("egress", "deny", None),
        ("egress", "allow", None),
    ]
    assert found.skipped == []


def test_what_is_no_decision_of_the_networks_rules_is_left_out(tmp_path):
    """Tunnels that were opened to be looked into, models; what cannot be read is told."""
    found = _chain(
        tmp_path,
        _leaving("CONNECT a.example.com:443", inspect=True),
        _leaving("POST https://a.example.com/v1/messages", door="model"),
        _leaving("CONNECT a.example.com:443", effect="maybe"),
    )

    assert found.calls == []
    assert found.skipped == [f"{found.skipped[0].split()[0]} seq 3: effect is none of this version"]
