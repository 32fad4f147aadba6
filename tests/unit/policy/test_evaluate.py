"""The verdict on one request."""

import pytest

from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.load import load_policy
from orchestrator.schema.request import (
    ExecRequest,
    ProcessList,
    ProcessOutput,
    ProcessStart,
    ReadRequest,
)
from orchestrator.shell.analysis import Finding
from tests.support.commands import ScriptedReader, analysis, command
from tests.unit.policy.conftest import SHIPPED

OPEN = (
    "tools: {default: allow}\ncommands: {default: allow, risks: {publishes: ask, opaque: deny}}\n"
)
RUN = ExecRequest("anything", "/workspace/sub", 10)


def test_a_command_that_nothing_objects_to_is_allowed(load):
    """The command's own vote is named, not the tool's."""
    reader = ScriptedReader(analysis(command("ls")))
    decision = evaluate(load(p=OPEN), RUN, tool="bash", read=reader)

    assert (decision.effect, decision.rule, decision.layer) == ("allow", "default", "session")
    assert reader.asked == [("anything", "/workspace/sub")]


def test_risks_are_listed_once_whoever_decides(load):
    """All classes found ride on the decision."""
    found = tuple(Finding(risk, risk, (0, 1)) for risk in ("publishes", "opaque", "publishes"))
    reader = ScriptedReader(analysis(command("x"), findings=found))
    decision = evaluate(load(p=OPEN), RUN, tool="bash", read=reader)

    assert decision.risks == ("publishes", "opaque")
    assert decision.rule == "risk:opaque"


def test_a_tool_nobody_votes_on_is_refused(load):
    """A new tool has no permission by being new."""
    policy = load(p="tools: {bash: allow}\ncommands: {default: allow}")
    decision = evaluate(policy, RUN, tool="other", read=ScriptedReader(analysis(command("ls"))))

    assert (decision.effect, decision.rule) == ("deny", "unmatched")
    assert "'other'" in decision.reason


@pytest.mark.parametrize("effect", ["ask", "deny"])
def test_a_tool_s_vote_counts_for_all_it_does(load, effect):
    """A denied tool runs not even harmless commands."""
    policy = load(p=f"tools: {{default: {effect}}}\ncommands: {{default: allow}}")
    decision = evaluate(policy, RUN, tool="bash", read=ScriptedReader(analysis(command("ls"))))

    assert (decision.effect, decision.rule) == (effect, "tool:default")
    assert decision.always is (effect == "ask")


def test_an_error_inside_the_gate_is_a_refusal_that_says_so(load):
    """A call that cannot be judged does not run, and evaluate does not raise."""
    decision = evaluate(load(p=OPEN), RUN, tool="bash", read=ScriptedReader(RuntimeError("boom")))

    assert (decision.effect, decision.rule, decision.layer) == ("deny", "gate-error", "floor")
    assert "RuntimeError: boom" in decision.reason


def test_an_empty_policy_allows_nothing(load):
    """Silence is a no for commands, files and tools alike."""
    policy = load(p="limits: {steps: 1}")
    reader = ScriptedReader(analysis(command("ls")))

    assert evaluate(policy, RUN, tool="bash", read=reader).effect == "deny"
    request = ReadRequest("/workspace/a", resolved="/workspace/a")
    assert evaluate(policy, request, tool="read").effect == "deny"


def test_a_file_request_is_judged_without_reading_a_command(load):
    """The tool's vote and the path's vote are both needed."""
    policy = load(p="tools: {read: allow}\nfiles: {read: {default: allow}}")
    request = ReadRequest("/workspace/a", resolved="/workspace/a")

    assert evaluate(policy, request, tool="read").effect == "allow"
    assert evaluate(policy, request, tool="grep").effect == "deny"


def test_the_real_reader_is_used_by_default(load):
    """The gate reads the command it is given."""
    text = OPEN + "  \n"
    policy = load(p=text.replace("publishes: ask", "publishes: ask, destructive: ask"))
    decision = evaluate(policy, ExecRequest("ls; rm -rf src", "/workspace", 10), tool="bash")

    assert (decision.effect, decision.rule) == ("ask", "risk:destructive")
    assert decision.span is not None


@pytest.mark.parametrize("command", ["ls", "git push", "rm -rf /", "bash", "curl x | sh", "$X"])
def test_start_of_a_process_is_judged_like_the_command(command):
    """The verdict is the same word for word, whichever tool runs it."""
    policy = load_policy(["default"], search=SHIPPED, user_file=None)
    as_call = evaluate(policy, ExecRequest(command, "/workspace", 5.0), tool="bash")
    started = evaluate(policy, ProcessStart(command, "/workspace", "p1"), tool="process")

    assert started == as_call


def test_rule_about_bash_holds_for_the_start_of_a_process(load):
    """To leave it running is no way around the rule; looking at it runs nothing."""
    policy = load(p="tools: {default: allow, bash: deny}\ncommands: {default: allow}\n")
    started = evaluate(policy, ProcessStart("ls", "/workspace", "p1"), tool="process")
    looked = evaluate(policy, ProcessOutput("p1"), tool="process")

    assert (started.effect, started.rule) == ("deny", "tool:bash")
    assert looked.effect == "allow"


def test_rule_about_the_tool_holds_for_all_it_does(load):
    """A policy can do without background processes at all."""
    policy = load(p="tools: {default: allow, process: deny}\ncommands: {default: allow}\n")

    for request in (ProcessStart("ls", "/w", "p1"), ProcessOutput("p1"), ProcessList()):
        decision = evaluate(policy, request, tool="process")
        assert (decision.effect, decision.rule) == ("deny", "tool:process")


@pytest.mark.parametrize(
    ("command", "effect"),
    [
        ("rm -f db/migrations/1.sql", "deny"),
        ("unlink db/migrations/1.sql", "deny"),
        ("rm -f .envrc", "ask"),
        ("rm -f notes.txt", "allow"),
    ],
)
def test_taking_a_file_away_is_writing_it(load, command, effect):
    """A rule about who may change a file would else be got around by a delete."""
    policy = load(
        p="tools: {default: allow}\n"
        "workspace: {protected: ['**/.envrc']}\n"
        "commands: {default: allow}\n"
        "files: {write: {default: allow, rules: "
        "[{id: no, paths: ['**/migrations/**'], effect: deny}]}}"
    )

    assert evaluate(policy, ExecRequest(command, "/workspace", 1.0), tool="bash").effect == effect
