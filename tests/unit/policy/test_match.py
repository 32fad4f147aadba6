"""Criteria of a command rule."""

import pytest

from orchestrator.policy.arguments import Certainty
from orchestrator.policy.match import Seen, match_rule
from tests.support.commands import UNREAD, command

NO, MAYBE, YES = Certainty


@pytest.fixture
def match(layer):
    """Matches one rule's text against a command."""

    def judge(rule: str, seen) -> Certainty:
        text = f"commands: {{rules: [{{id: r, {rule}}}]}}"
        (compiled,) = layer(text).rules_for(None)
        return match_rule(compiled, seen if isinstance(seen, Seen) else Seen(seen))

    return judge


def test_a_program_is_matched_by_its_base_name_or_whole_path(match):
    """A path does not hide a program from a strict rule."""
    assert match("program: git, effect: deny", command("git push")) is YES
    assert match("program: git, effect: deny", command("/opt/x/git push")) is YES
    assert match("program: [hg, /opt/x/git], effect: deny", command("/opt/x/git push")) is YES
    assert match("program: /opt/x/git, effect: deny", command("git push")) is NO
    assert match("program: git, effect: deny", command("gitk")) is NO


def test_an_allow_rule_trusts_a_path_only_in_system_folders(match):
    """``./git`` is whatever the workspace holds."""
    assert match("program: git, effect: allow", command("./git status")) is NO
    assert match("program: git, effect: allow", command("/usr/bin/git status")) is YES
    assert match("program: [./git], effect: allow", command("./git status")) is YES


def test_an_unread_program_may_be_any(match):
    """A computed name may be the one denied, and is never the one allowed."""
    assert match("program: git, effect: deny", command(UNREAD)) is MAYBE
    assert match("program: git, effect: allow", command(UNREAD)) is NO


def test_a_wrapper_counts_as_a_program_of_its_own(match):
    """``sudo ls`` runs sudo; what its options are is not known."""
    wrapped = Seen(command("ls", wrappers=("sudo",)), wrapper="sudo")

    assert match("program: sudo, effect: deny", wrapped) is YES
    assert match("program: ls, effect: deny", wrapped) is NO
    assert match("program: sudo, flags: {any: -E}, effect: deny", wrapped) is MAYBE
    assert match("program: sudo, args: [ls], effect: deny", wrapped) is MAYBE
    assert match("program: sudo, args: [ls], effect: allow", wrapped) is NO


def test_arguments_use_what_is_known_of_the_program(match):
    """git's -C takes a value, so an allow rule can look past it."""
    rule = "program: git, args: [status], effect: allow"

    assert match(rule, command("git -C sub status")) is YES
    assert match(rule.replace("git", "frob"), command("frob -C sub status")) is NO
    assert match(rule, command("git --no-such-option sub status")) is NO


def test_environment_is_matched_by_name_and_glob(match):
    """A variable in front of a command is part of it."""
    seen = command("git fetch", environment=(("GIT_SSH_COMMAND", "x"),))

    assert match("env: GIT_*, effect: deny", seen) is YES
    assert match("env: [LD_*, PATH], effect: deny", seen) is NO


def test_writes_are_matched_and_an_unread_target_may_be_any(match):
    """A redirect to a computed name may hit the path."""
    rule = "writes: [migrations/**], effect: ask"

    assert match(rule, Seen(command("x"), ("/workspace/migrations/1.sql",))) is YES
    assert match(rule, Seen(command("x"), ("/workspace/a",))) is NO
    assert match(rule, Seen(command("x"), ("/workspace/a", None))) is MAYBE
    assert match(rule.replace("ask", "allow"), Seen(command("x"), (None,))) is NO


def test_pipes_and_directories_are_criteria(match):
    """Who reads the output, and where it runs."""
    assert match("pipes_into: [sh, bash], effect: deny", command("x", pipes_into="sh")) is YES
    assert match("pipes_into: sh, effect: deny", command("x")) is NO
    assert match("cwd: prod/**, effect: deny", command("x", cwd="/workspace/prod/a")) is YES
    assert match("cwd: prod/**, effect: deny", command("x", cwd="/workspace")) is NO
    assert match("cwd: prod/**, effect: deny", command("x", cwd=None)) is MAYBE
    assert match("cwd: prod/**, effect: allow", command("x", cwd=None)) is NO


def test_all_criteria_must_hold(match):
    """A rule is the conjunction of what it names."""
    rule = "program: git, args: [push], flags: {any: [-f, --force]}, effect: deny"

    assert match(rule, command("git -C x push -f origin main")) is YES
    assert match(rule, command("git push origin HEAD:topic")) is NO
    assert match(rule, command("hg push -f")) is NO
    assert match(rule, command(f"git push origin {UNREAD}")) is MAYBE


def test_doubt_never_earns_an_allow(match):
    """An allow rule is sure or silent."""
    rule = "program: npm, args: [run], flags: {none: [--unsafe]}, effect: allow"

    assert match(rule, command("npm run build")) is YES
    assert match(rule, command(f"npm run {UNREAD}")) is NO
