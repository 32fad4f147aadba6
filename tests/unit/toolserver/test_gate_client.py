"""What a client's hook reads of the gate's answer; asking is tested over the glove."""

import io
import json

import pytest
from gate_client import main, told


def test_claude_reads_its_own_form_of_a_yes():
    """So that it does not ask for itself; a no is the exit code that blocks."""
    output, code = told("claude", {"decision": "allow", "reason": "why"})
    specific = json.loads(output)["hookSpecificOutput"]

    assert code == 0
    assert specific["hookEventName"] == "PreToolUse"
    assert specific["permissionDecision"] == "allow"
    assert specific["permissionDecisionReason"] == "why"
    assert told("claude", {"decision": "deny", "reason": "why"}) == ("", 2)


@pytest.mark.parametrize(("decision", "code"), [("allow", 0), ("deny", 2)])
def test_codex_gets_nothing_but_the_code(decision, code):
    """It takes a hook that says allow for one that failed, and goes on."""
    assert told("codex", {"decision": decision, "reason": "why"}) == ("", code)


@pytest.mark.parametrize(("decision", "code"), [("allow", 0), ("deny", 2)])
def test_others_read_the_plain_answer(decision, code):
    """With a code that shells understand."""
    output, found = told("pi", {"decision": decision, "reason": "why"})

    assert (json.loads(output)["decision"], found) == (decision, code)


@pytest.mark.parametrize("said", ["no JSON", '{"tool_name": "Bash"}'])
def test_without_a_gate_it_is_no(monkeypatch, capsys, said):
    """Said on standard error, with the code that blocks."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(said.encode())))

    assert main(["claude"]) == 2
    assert "refused" in capsys.readouterr().err
    assert capsys.readouterr().out == ""
