"""The effective policy as a table."""

import json

from orchestrator.policy.show import as_data, setting_rows, vote_rows

TEXT = """\
sandbox: {memory: 1GiB, tmpfs: {/tmp: 1MiB}, read_only_root: false}
tools: {default: ask}
models: {allow: [local], box: {allow: [local], map: {"*": a/b}, tokens: 5}}
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
    assert rows["models.box.allow"] == ("local", "p.yaml:5")
    assert rows["models.box.map"] == ("* a/b", "p.yaml:5")
    assert rows["models.box.tokens"] == ("5", "p.yaml:5")
    assert rows["models.box.max_tokens"] == ("-", "built-in")
    assert rows["models.in_box"] == ("deny", "built-in")
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
        "network.rules.n": "deny a.example",
    }


def test_data_is_json_and_whole(load):
    """A machine gets raw values, origins and votes."""
    data = json.loads(json.dumps(as_data(load(p=TEXT))))

    assert data["settings"]["sandbox.memory"]["value"] == 2**30
    assert data["settings"]["sandbox.memory"]["layer"] == "session"
    assert data["settings"]["audit.sign"]["place"] is None
    assert [row["layer"] for row in data["layers"]] == ["session"]
    assert any(row["key"] == "commands.rules.x" for row in data["votes"])


def test_a_policy_with_no_votes_shows_none(load):
    """Nothing is invented."""
    assert list(vote_rows(load(p="limits: {steps: 1}"))) == []


def test_what_other_layers_say_stands_below_the_value(load):
    """Overridden, refused, added: whose line, and what it would have been."""
    policy = load(
        p="limits: {steps: 50}\nworkspace: {hidden: [a], modes: [overlay, bind]}\n"
        "models: {allow: ['*']}\nsandbox: {image: mine}",
        user="limits: {steps: 9}\nworkspace: {hidden: [b], modes: [overlay]}\n"
        "models: {allow: [local]}\nsandbox: {image: theirs}",
    )
    beside = {(row.key, row.note): row for row in setting_rows(policy) if row.beside}

    assert beside["limits.steps", "overridden"].value == "50"
    assert beside["limits.steps", "overridden"].origin.startswith("session ")
    assert beside["limits.steps", "overridden"].origin.endswith("p.yaml:3")
    assert beside["sandbox.image", "overridden"].value == "mine"
    assert beside["workspace.modes", "refused"].value == "bind"
    assert beside["workspace.hidden", "adds"].value == "b"
    assert beside["models.allow", "also"].value == "*"
    [other] = as_data(policy)["settings"]["limits.steps"]["others"]
    assert (other["how"], other["value"], other["layer"]) == ("overridden", 50, "session")


def test_votes_that_lose_say_so(load):
    """The strictest wins; a reader sees which line to look at."""
    policy = load(
        p="commands: {default: allow, risks: {secrets: {normal: deny, high: ask}, upload: ask}}\n"
        "tools: {default: allow}",
        user="commands: {default: ask, risks: {secrets: ask}}\ntools: {default: delegate}",
    )
    notes = {(row.origin.split()[0], row.key): row.note for row in vote_rows(policy)}

    assert notes["session", "commands.default"] == "overridden"
    assert notes["user", "commands.default"] == ""
    assert notes["user", "commands.risks.secrets"] == "overridden in part"
    assert notes["session", "commands.risks.secrets"] == ""
    assert notes["session", "commands.risks.upload"] == ""
    assert (notes["session", "tools.default"], notes["user", "tools.default"]) == ("", "")


def test_layers_are_named_with_their_digests(load):
    """What the record holds, too."""
    rows = as_data(load(p="limits: {steps: 1}", user="limits: {steps: 2}"))["layers"]

    assert [(row["layer"], row["name"]) for row in rows] == [("user", "mine"), ("session", "p")]
    assert all(row["digest"].startswith("sha256:") for row in rows)
    assert rows[0]["digest"] != rows[1]["digest"]
