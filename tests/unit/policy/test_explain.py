"""A decision in words."""

import pytest

from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.explain import (
    answer_needed,
    explain_data,
    explain_text,
    place_of_decision,
    what_would_change,
)
from orchestrator.schema.decision import Decision
from orchestrator.schema.request import ExecRequest, WriteRequest
from orchestrator.shell.analysis import Finding
from tests.support.commands import ScriptedReader, analysis, command

TEXT = (
    "tools: {default: allow}\n"
    "workspace: {protected: [ci.yml]}\n"
    "files: {write: {default: allow}}\n"
    "commands: {default: allow, risks: {publishes: ask}}"
)
PUSH = ExecRequest("ls; git push", "/workspace", 10)
READER = ScriptedReader(
    analysis(command("git push"), findings=(Finding("publishes", "it pushes", (4, 12)),))
)


@pytest.fixture
def explained(load):
    """The explanation of a push under TEXT."""
    policy = load(p=TEXT)
    decision = evaluate(policy, PUSH, tool="bash", read=READER)
    return policy, decision


def test_text_shows_the_part_the_rule_its_line_and_what_would_change_it(explained):
    """Everything a person needs stands in one place."""
    policy, decision = explained
    text = explain_text(policy, PUSH, decision)

    assert text.startswith("ASK\n  ls; git push\n      ^^^^^^^^\n")
    assert "why     it pushes" in text
    assert "risk:publishes (session, " in text
    assert "p.yaml:6)" in text
    assert "commands.risks.publishes in the session layer" in text
    assert "answer" in text


def test_text_is_escaped_for_a_terminal(load):
    """Nothing in a command or reason can move the cursor."""
    request = ExecRequest("echo \x1b[2K\x1b[1A", "/workspace", 10)
    decision = Decision(
        "deny",
        "risk:evasion",
        "session",
        "holds \x1b",
        risks=("evasion",),
        hint="no \u202e",
        notes=("x \x07",),
        span=(5, 9),
    )
    text = explain_text(load(p=TEXT), request, decision)

    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\x07" not in text
    assert "\\x1b[2K" in text


def test_data_is_the_whole_decision_for_a_machine(explained):
    """Every field, with the line as text."""
    policy, decision = explained
    data = explain_data(policy, PUSH, decision)

    assert data["effect"] == "ask"
    assert data["place"].endswith("p.yaml:6")
    assert data["span"] == [4, 12]
    assert data["subject"] == PUSH.command
    assert data["digest"] == policy.digest


def test_a_file_request_is_shown_with_its_path(load):
    """Protected paths name the line of the glob."""
    policy = load(p=TEXT)
    request = WriteRequest("/workspace/ci.yml", "", resolved="/workspace/ci.yml")
    decision = evaluate(policy, request, tool="write")

    assert str(place_of_decision(policy, decision)).endswith("p.yaml:4")
    assert "write /workspace/ci.yml" in explain_text(policy, request, decision)
    assert explain_data(policy, request, decision)["subject"] == "/workspace/ci.yml"


def test_the_floor_has_no_line(load):
    """What no policy lifts is written in none."""
    decision = Decision("deny", "outside", "floor", "r")

    assert place_of_decision(load(p=TEXT), decision) is None
    assert explain_data(load(p=TEXT), PUSH, decision)["place"] is None


@pytest.mark.parametrize(
    ("rule", "layer", "words"),
    [
        ("outside", "floor", "files.read_roots"),
        ("unresolved", "floor", "nothing"),
        ("gate-error", "floor", "report"),
        ("unmatched", "floor", "set it"),
        ("risk:opaque", "user", "commands.risks.opaque in the user layer"),
        ("tool:bash", "session", "tools.bash in the session layer"),
        ("default", "session", "commands.default, or a rule"),
        ("default:write", "session", "files.write.default"),
        ("protected", "team", "workspace.protected in the team layer"),
        ("mine", "session", "the rule 'mine' in the session layer"),
    ],
)
def test_what_would_change_it_names_the_setting(rule, layer, words):
    """Every kind of decision says where to turn."""
    assert words in what_would_change(Decision("deny", rule, layer, "r", hint="set it"))


def test_the_answer_an_ask_needs_depends_on_its_marks():
    """A blanket yes, a remembered yes and a yes to this very call differ."""
    assert "--yolo does not" in answer_needed(Decision("ask", "r", "l", "x", unyielding=True))
    assert "each time" in answer_needed(Decision("ask", "r", "l", "x", always=True))
    assert "approvals.scopes" in answer_needed(Decision("ask", "r", "l", "x"))
