"""A layer answers what it votes, and where that is written."""

import pytest

TEXT = """\
workspace:
  protected: ["**/.git/**"]
  hidden:
    - "**/.env"
tools: {default: ask, bash: allow, "mcp__*": deny, "mcp__ok__*": allow, read: delegate}
files:
  write:
    default: ask
    rules:
      - {id: docs, paths: "docs/**", effect: allow}
commands:
  default: delegate
  risks: {publishes: deny, destructive: {normal: allow, high: ask}}
  rules:
    - {id: one, program: [git, hg], effect: deny}
    - {id: two, env: X, effect: ask}
    - {id: three, program: /opt/git, effect: ask}
network: {rules: [{id: net, hosts: a.example, effect: allow}]}
"""


def test_rules_are_found_by_program_and_all_of_them_for_an_unknown_one(layer):
    """The index gives each rule once."""
    it = layer(TEXT)

    assert [item.rule.id for item in it.rules_for("git")] == ["one", "three", "two"]
    assert [item.rule.id for item in it.rules_for("ls")] == ["two"]
    assert sorted(item.rule.id for item in it.rules_for(None)) == ["one", "three", "two"]


def test_tool_votes_take_every_glob_that_matches_and_the_default_alone(layer):
    """A named vote takes the default's place; several count together."""
    it = layer(TEXT)

    assert it.tool_votes("bash") == [("bash", "allow")]
    assert it.tool_votes("mcp__ok__x") == [("mcp__*", "deny"), ("mcp__ok__*", "allow")]
    assert it.tool_votes("write") == [("default", "ask")]
    assert it.tool_votes("read") == [("default", "ask")]
    assert layer("limits: {steps: 1}").tool_votes("bash") == []
    assert layer("tools: {default: delegate}").tool_votes("bash") == []


def test_silent_sections_do_not_vote(layer):
    """Nothing written, nothing voted."""
    it = layer("limits: {steps: 1}")

    assert it.command_default() is None
    assert it.risk_vote("publishes") is None
    assert it.writes.default is None
    assert layer("commands: {default: ask}").risk_vote("publishes") is None


def test_risk_votes_may_differ_for_grave_cases(layer):
    """A class has two votes; a single word gives both."""
    it = layer(TEXT)

    assert it.risk_vote("publishes").high == "deny"
    assert it.risk_vote("destructive").normal == "allow"
    assert it.risk_vote("destructive").high == "ask"


@pytest.mark.parametrize(
    ("rule", "reason", "line"),
    [
        ("protected", "x is protected (**/.git/**): y", 4),
        ("hidden", "x is hidden from the box (**/.env)", 6),
        ("tool:bash", "", 7),
        ("default", "", 14),
        ("default:write", "", 10),
        ("risk:publishes", "", 15),
        ("docs", "", 12),
        ("two", "", 18),
        ("net", "", 20),
    ],
)
def test_every_word_of_a_decision_leads_to_its_line(layer, rule, reason, line):
    """A decision's rule can always be looked up in the file."""
    assert str(layer(TEXT).place_of_rule(rule, reason=reason)) == f"session.yaml:{line}"


def test_an_unknown_rule_has_no_line(layer):
    """What is not written has no place."""
    assert layer(TEXT).place_of_rule("nope") is None
    assert layer(TEXT).place_of_rule("hidden", reason="(**/other)") is None
