"""Votes on what a command line would do."""

import pytest

from orchestrator.policy.ballot import count
from orchestrator.policy.judge_command import command_votes, rule_applies
from orchestrator.policy.layer import BoxPaths
from orchestrator.shell.analysis import Finding, Redirect
from tests.support.commands import UNREAD, analysis, command

ALLOW = "commands: {default: allow, risks: {publishes: ask, destructive: {normal: allow, high: ask}"


@pytest.fixture
def judge(layer):
    """Counts the votes of one or several layers' texts."""

    def decide(text, seen, **others):
        layers = (layer(text), *(layer(other, name) for name, other in others.items()))
        return count(list(command_votes(layers, seen, box=BoxPaths())))

    return decide


def _finding(risk="publishes", span=(0, 5), **rest):
    return Finding(risk, f"it {risk}", span, **rest)


def test_every_program_of_a_line_must_be_allowed(judge):
    """One denied command in a chain denies the chain, whatever stands after it."""
    text = "commands: {default: allow, rules: [{id: no, program: rm, effect: deny}]}"
    line = analysis(command("ls"), command("rm x", span=(3, 7)), command("echo ok"))
    decision = judge(text, line)

    assert (decision.effect, decision.rule, decision.span) == ("deny", "no", (3, 7))
    assert judge(text, analysis(command("ls"))).effect == "allow"


def test_a_line_without_a_program_gets_the_default(judge):
    """An assignment alone is judged too."""
    assert judge("commands: {default: ask}", analysis()).effect == "ask"
    assert judge("commands: {default: delegate}", analysis()).rule == "unmatched"


def test_a_wrapper_is_asked_about_as_a_program(judge):
    """A list of allowed programs is not passed by wrapping one."""
    text = "commands: {default: deny, rules: [{id: ok, program: ls, effect: allow}]}"

    assert judge(text, analysis(command("ls"))).effect == "allow"
    assert judge(text, analysis(command("ls", wrappers=("env",)))).effect == "deny"
    assert judge(text, analysis(command("ls", wrappers=("/usr/bin/env",)))).reason == (
        "no rule for env; commands.default is deny"
    )


def test_the_strictest_matching_rule_of_a_layer_is_its_vote(judge):
    """A wide deny is not lifted by a narrow allow."""
    text = (
        "commands: {default: allow, rules: [{id: a, program: git, args: [push], effect: allow},"
        " {id: b, program: git, effect: ask}]}"
    )

    decision = judge(text, analysis(command("git push")))

    assert (decision.effect, decision.rule, decision.always) == ("ask", "b", True)


def test_a_possible_match_of_a_deny_rule_asks_a_person(judge):
    """What may be forbidden is not run on a blanket yes."""
    text = "commands: {default: allow, rules: [{id: no, program: git, args: [push], effect: deny}]}"
    decision = judge(text, analysis(command(f"git {UNREAD}")))

    assert (decision.effect, decision.unyielding) == ("ask", True)
    assert "cannot be told" in decision.reason


def test_risks_are_voted_on_by_class_and_gravity(judge):
    """The grave half of a class has its own vote, which no blanket yes answers."""
    text = ALLOW + "}}"
    normal = judge(text, analysis(command("x"), findings=(_finding("destructive"),)))
    high = judge(text, analysis(command("x"), findings=(_finding("destructive", severity="high"),)))

    assert normal.effect == "allow"
    assert (high.effect, high.rule, high.unyielding) == ("ask", "risk:destructive", True)


def test_a_plain_risk_may_be_answered_by_a_blanket_yes_and_an_opaque_one_not(judge):
    """--yolo covers what it can see."""
    text = "commands: {default: allow, risks: {publishes: ask, opaque: ask}}"

    assert not judge(text, analysis(command("x"), findings=(_finding(),))).unyielding
    assert judge(text, analysis(command("x"), findings=(_finding("opaque"),))).unyielding


def test_a_risk_that_nobody_votes_on_is_refused(judge):
    """A class left out is not a class allowed."""
    decision = judge("commands: {default: allow}", analysis(command("x"), findings=(_finding(),)))

    assert (decision.effect, decision.rule) == ("deny", "unmatched")
    assert "commands.risks.publishes" in decision.hint


def test_a_rule_that_names_a_risk_answers_it_for_its_commands(judge):
    """A push to one's own remote can be allowed without allowing to publish."""
    text = (
        ALLOW + "}, rules: [{id: mine, program: git, args: [push, origin], risks: [publishes],"
        " effect: allow}]}"
    )
    finding = (_finding(span=(0, 15)),)

    assert judge(text, analysis(command("git push origin"), findings=finding)).effect == "allow"
    assert judge(text, analysis(command("git push other"), findings=finding)).effect == "ask"
    assert judge(text, analysis(findings=finding)).effect == "ask"


def test_an_allow_for_the_inner_half_of_a_pipe_does_not_clear_the_whole(judge):
    """A finding over two programs needs both to match."""
    text = ALLOW + "}, rules: [{id: mine, program: sh, risks: [publishes], effect: allow}]}"
    line = analysis(
        command("curl x", span=(0, 6)),
        command("sh", span=(9, 11)),
        findings=(_finding(span=(0, 11)),),
    )

    assert judge(text, line).effect == "ask"


def test_an_allow_for_nested_code_looks_at_the_nested_command(judge):
    """``sh -c 'git push'`` publishes by its inner command; the shell around it is no matter."""
    text = ALLOW + "}, rules: [{id: mine, program: git, risks: [publishes], effect: allow}]}"
    line = analysis(
        command("sh -c X", span=(0, 18)),
        command("git push", span=(7, 15), origin="sh -c"),
        findings=(_finding(span=(7, 15)),),
    )

    assert judge(text, line).effect == "allow"


def test_an_allow_for_a_risk_does_not_cover_a_wrapper(judge):
    """``sudo git push`` is more than ``git push``."""
    text = ALLOW + "}, rules: [{id: mine, program: git, risks: [publishes], effect: allow}]}"
    line = analysis(command("git push", wrappers=("sudo",)), findings=(_finding(),))

    assert judge(text, line).effect == "ask"


def test_a_strict_rule_on_a_risk_needs_only_one_command_to_match(judge):
    """To refuse, any part will do; the finding's own hint is passed on."""
    text = (
        ALLOW + "}, rules: [{id: no, program: [curl], risks: publishes, effect: deny, reason: no}]}"
    )
    line = analysis(
        command("sh", span=(0, 2)),
        command("curl x", span=(3, 9)),
        findings=(_finding(span=(0, 9), hint="do less"),),
    )
    decision = judge(text, line)

    assert (decision.effect, decision.reason, decision.hint) == (
        "deny",
        "no (it publishes)",
        "do less",
    )


def test_an_ask_rule_on_a_grave_risk_keeps_it_from_a_blanket_yes(judge):
    """Naming the risk does not make it milder."""
    text = ALLOW + "}, rules: [{id: q, risks: publishes, effect: ask}]}"
    grave = analysis(command("x"), findings=(_finding(severity="high"),))

    assert judge(text, grave).unyielding
    assert judge(text, grave).always


def test_seen_writes_to_protected_paths_ask_even_in_an_allowed_command(judge):
    """The gate is the first of several that keep hooks from the host."""
    text = "workspace: {protected: ['**/.git/**']}\ncommands: {default: allow}"
    decision = judge(
        text, analysis(command("x"), writes=(("/workspace/a/../.GIT/hooks/x", (0, 1)),))
    )

    assert (decision.effect, decision.rule, decision.unyielding) == ("ask", "protected", True)
    assert decision.span == (0, 1)


def test_a_relative_write_from_an_unknown_directory_counts_from_the_workspace(judge):
    """Not knowing where it lands does not lift the protection."""
    text = "workspace: {protected: ['**/.envrc']}\ncommands: {default: allow}"

    assert judge(text, analysis(command("x"), writes=((".envrc", (0, 1)),))).effect == "ask"


def test_file_rules_hold_for_what_commands_are_seen_to_touch(judge):
    """A path refused to the file tools is refused to a redirect."""
    text = (
        "commands: {default: allow}\nfiles:\n"
        "  write: {default: ask, rules: [{id: no, paths: 'db/**', effect: deny}]}\n"
        "  read: {default: allow, rules: [{id: sec, paths: 'sec/**', effect: deny}]}"
    )

    def write(path):
        return judge(text, analysis(command("x"), writes=((path, (0, 1)),)))

    assert write("/workspace/db/x").rule == "no"
    assert write("/workspace/other").rule == "default:write"
    assert write("/dev/null").effect == "allow"
    assert judge(text, analysis(command("x"), reads=(("/workspace/sec/k", (0, 1)),))).rule == "sec"
    assert judge(text, analysis(command("x"), reads=(("/etc/hosts", (0, 1)),))).effect == "allow"


def test_layers_can_only_tighten(judge):
    """Another layer's ask stands above an allow, and its silence leaves the allow."""
    line = analysis(command("git push"), findings=(_finding(),))
    loose = "commands: {default: allow, risks: {publishes: allow}}"

    assert judge(loose, line).effect == "allow"
    decision = judge(loose, line, user="commands: {risks: {publishes: ask}}")
    assert (decision.effect, decision.layer) == ("ask", "user")
    assert judge(loose, line, user="commands: {default: delegate}").effect == "allow"
    assert judge(loose, line, user="commands: {default: deny}").effect == "deny"


def test_a_rule_that_writes_sees_redirects_of_its_own_command(layer):
    """A redirect belongs to the command it stands at, a computed target to any path."""
    (compiled,) = layer("commands: {rules: [{id: w, writes: 'm/**', effect: ask}]}").rules_for(None)
    redirect = Redirect(">", "m/x", (5, 10), writes=True)
    unread = Redirect(">", None, (5, 10), writes=True)
    copied = Redirect(">&", None, (5, 10), writes=False)
    writes = (("/workspace/m/x", (5, 10)),)

    assert rule_applies(
        compiled, analysis(command("x", span=(0, 4), redirects=(redirect,)), writes=writes)
    )
    assert not rule_applies(compiled, analysis(command("x", span=(20, 24)), writes=writes))
    assert rule_applies(compiled, analysis(command("x", span=(0, 4), redirects=(unread,))))
    assert not rule_applies(compiled, analysis(command("x", span=(0, 4), redirects=(copied,))))


def test_a_risk_rule_applies_only_where_its_risk_is_found(layer):
    """Examples of such rules are commands with the risk."""
    (compiled,) = layer(
        "commands: {rules: [{id: w, program: git, risks: [publishes], effect: allow}]}"
    ).rules_for(None)

    assert rule_applies(compiled, analysis(command("git push"), findings=(_finding(),)))
    assert not rule_applies(compiled, analysis(command("git push")))
