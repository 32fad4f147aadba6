"""Mistakes in a policy file, each with its line and the nearest name."""

import pytest

from orchestrator.errors import PolicyError
from orchestrator.policy.validate import nearest, validate_document
from orchestrator.policy.yaml_nodes import parse_yaml

HEAD = "version: 1\nname: x\n"


def _problems(text: str) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        validate_document(parse_yaml(HEAD + text, file="p.yaml"))
    return str(caught.value).split("\n")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("commnads: {default: allow}", "p.yaml:3: unknown key 'commnads'; nearest: 'commands'"),
        (
            "commands:\n  risks: {destructiv: ask}",
            "p.yaml:4: unknown key 'destructiv' in commands.risks; nearest: 'destructive'",
        ),
        (
            "commands:\n  default: alow",
            "p.yaml:4: commands.default: expected 'allow', 'ask', 'deny' or 'delegate', got 'alow'; nearest: 'allow'",
        ),
        (
            "commands:\n  rules:\n    - id: a\n      program: git",
            "p.yaml:5: commands.rules[0] needs the key 'effect'",
        ),
        (
            "commands: {rules: [{id: a, program: git, effect: deny, efect: ask}]}",
            "p.yaml:3: unknown key 'efect' in commands.rules[0]; nearest: 'effect'",
        ),
        ("commands: {risks: {opaque: {normal: ask}}}", "p.yaml:3: commands.risks.opaque needs"),
        ("sandbox: {memory: 4}", "p.yaml:3: sandbox.memory: expected a size with a unit"),
        ("limits: {wall_time: 10}", "p.yaml:3: limits.wall_time: expected a duration with a unit"),
        ("limits: {steps: yes}", "p.yaml:3: limits.steps: expected a whole number, got 'yes'"),
        ("limits: {steps: 0}", "p.yaml:3: limits.steps: input should be greater than"),
        ("sandbox: {cpus: two}", "p.yaml:3: sandbox.cpus: expected a number, got 'two'"),
        ("sandbox: [1]", "p.yaml:3: sandbox: expected a mapping of keys to values, got [1]"),
        ("workspace: {hidden: x}", "p.yaml:3: workspace.hidden: expected a list, got 'x'"),
        (
            "workspace: {hidden: [/etc]}",
            "p.yaml:3: workspace.hidden[0]: path glob '/etc': expected",
        ),
        ("workspace: {hidden: [5]}", "p.yaml:3: workspace.hidden[0]: expected text"),
        (
            "files: {read: {rules: [{id: a, paths: [5], effect: ask}]}}",
            "p.yaml:3: files.read.rules[0].paths[0]: expected text",
        ),
        (
            "commands: {rules: [{id: a, program: x, effect: ask, flags: {eny: -f}}]}",
            "p.yaml:3: unknown key 'eny' in commands.rules[0].flags; nearest: 'any'",
        ),
        ("commands: {rules: [{id: 5, program: x, effect: ask}]}", "p.yaml:3: commands.rules[0].id"),
        ("audit: {sign: 1}", "p.yaml:3: audit.sign: expected true or false, got 1"),
        ("description: 5", "p.yaml:3: description: expected text"),
        ("hidden:", "p.yaml:3: hidden has no value; give it one or take the key away"),
        ("extends: [a, ~]", "p.yaml:3: extends[1] has no value"),
        ("commands: {rules: [{id: default, program: a, effect: ask}]}", "p.yaml:3: commands.rules"),
        ("commands: {rules: [{id: a, effect: ask}]}", "p.yaml:3: commands.rules[0]: a rule needs"),
        (
            "commands: {rules: [{id: a, args: [x], effect: ask, env: Y}]}",
            "p.yaml:3: commands.rules[0]: args and flags need a program",
        ),
        (
            "commands: {rules: [{id: a, program: x, flags: {}, effect: ask}]}",
            "p.yaml:3: commands.rules[0].flags: flags needs at least one",
        ),
        ("approvals: {scopes: [ever]}", "p.yaml:3: approvals.scopes[0]: expected once, session"),
        (
            "network: {rules: [{id: a, hosts: ['*.com'], effect: allow}]}",
            "p.yaml:3: network.rules[0].hosts: host '*.com' is too wide",
        ),
        ("tools: {bash: yolo}", "p.yaml:3: tools.bash: expected 'allow', 'ask', 'deny'"),
    ],
)
def test_a_mistake_is_named_with_line_and_next_step(text, problem):
    """Each mistake reads as place, expected, got."""
    assert _problems(text)[0].startswith(problem)


def test_all_mistakes_of_a_file_are_told_by_line():
    """One run shows everything that is wrong, in reading order, each once."""
    lines = _problems("limits: {steps: 0}\nzzzz: 1\nsandbox: {pids: 1}\n")

    assert [line.split(":")[1] for line in lines] == ["3", "4", "5"]


def test_missing_version_and_name_point_at_the_file():
    """A file that says nothing of itself is not a policy."""
    with pytest.raises(PolicyError, match=r"p.yaml:1: the file needs the key 'version'"):
        validate_document(parse_yaml("tools: {default: allow}", file="p.yaml"))


def test_unknown_version_is_refused():
    """A format from the future is not guessed at."""
    with pytest.raises(PolicyError, match=r"p.yaml:1: version: expected 1, got 2"):
        validate_document(parse_yaml("version: 2\nname: x\n", file="p.yaml"))


def test_a_word_unlike_any_lists_what_is_known():
    """Without a likely slip, the reader sees the choices."""
    assert nearest("zzz", ["allow", "deny"]) == "; known: allow, deny"
    assert nearest("zzz", []) == ""


def test_a_value_is_shown_as_yaml():
    """Its author wrote YAML, and no other language."""
    (told,) = _problems("sandbox: [a, [true, {x: 1.5}], '']")

    assert told.endswith("got ['a', [true, {x: 1.5}], '']")


def test_a_long_value_is_cut_in_the_message():
    """A message stays a line."""
    assert len(_problems("name2: x\nsandbox: '" + "y" * 500 + "'")[1]) < 200
