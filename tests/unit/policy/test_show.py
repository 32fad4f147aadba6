"""The effective policy as a table."""

import json

from orchestrator.policy.show import as_data, setting_rows, vote_rows

TEXT = """\
sandbox: {memory: 1GiB, tmpfs: {/tmp: 1MiB}, read_only_root: false}
tools: {default: ask}
models: {allow: [local]}
limits: {wall_time: 90m}
files: {write: {default: ask, rules: [{id: docs, paths: docs, effect: allow}]}}
commands:
  default: allow
  risks: {publishes: deny, destructive: {normal: allow, high: ask}}
  rules: [{id: x, program: a, effect: ask}]
network: {rules: [{id: n, hosts: a.example, effect: deny}]}
"""


def _rows(rows):
    return {row.key: (row.value, row.origin.rpartition("/")[2]) for row in rows}


def test_settings_are_shown_with_units_and_lines(load):
    """A person reads what they would write."""
    rows = _rows(setting_rows(load(p=TEXT)))

    assert rows["sandbox.memory"] == ("1GiB", "p.yaml:3")
    assert rows["sandbox.tmpfs"] == ("/tmp 1MiB", "p.yaml:3")
    assert rows["sandbox.read_only_root"] == ("false", "p.yaml:3")
    assert rows["sandbox.image"] == ("-", "built-in")
    assert rows["limits.wall_time"] == ("90m", "p.yaml:6")
    assert rows["models.allow"] == ("local", "p.yaml:5")
    assert rows["audit.sign"] == ("true", "built-in")
    assert rows["workspace.hidden"] == ("none", "built-in")


def test_votes_are_shown_layer_by_layer(load):
    """Every default, risk and rule, with the layer that votes."""
    policy = load(p=TEXT, user="commands: {risks: {publishes: ask}}")
    rows = [(row.key, row.value, row.origin) for row in vote_rows(policy)]

    assert rows[0][:2] == ("commands.risks.publishes", "ask")
    assert rows[0][2].startswith("user ")
    session = {key: value for key, value, origin in rows if origin.startswith("session ")}
    assert session == {
        "tools.default": "ask",
        "files.write.default": "ask",
        "commands.default": "allow",
        "commands.risks.publishes": "deny",
        "commands.risks.destructive": "allow, high: ask",
        "commands.rules.x": "ask",
        "files.write.rules.docs": "allow",
        "network.rules.n": "deny",
    }


def test_data_is_json_and_whole(load):
    """A machine gets raw values, origins and votes."""
    data = json.loads(json.dumps(as_data(load(p=TEXT))))

    assert data["settings"]["sandbox.memory"]["value"] == 2**30
    assert data["settings"]["sandbox.memory"]["layer"] == "session"
    assert data["settings"]["audit.sign"]["place"] is None
    assert data["layers"] == ["session"]
    assert any(row["key"] == "commands.rules.x" for row in data["votes"])


def test_a_policy_with_no_votes_shows_none(load):
    """Nothing is invented."""
    assert list(vote_rows(load(p="limits: {steps: 1}"))) == []
