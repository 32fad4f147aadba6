"""Layers from outside: what does not load or hold starts nothing; what is installed binds everywhere."""

import json
import re
import tempfile
from pathlib import Path

import pexpect
import pytest

from tests.support.governed import GovernedMachine, open_to_all, why_not
from tests.support.world import World, bash

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
]

ORG = """\
extends: [default]
approvals: {yolo: deny}
limits: {steps: 7}
workspace: {protected: ["**/deploy/**"]}
commands:
  rules:
    - {id: no-tool, program: acme-tool, effect: deny, reason: the organisation says no}
"""


@pytest.fixture
def machine(tmp_path):
    return GovernedMachine(tmp_path / "machine")


def write(world, name, text):
    path = world.root / name if not name.startswith(".glovebox") else world.project / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"version: 1\nname: x\n{text}\n")
    return str(path)


def broken(world, _machine):
    return ["--policy", write(world, "p.yaml", "commands: {default: [")], r"p\.yaml:4: .*not YAML"


def failing_example(world, _machine):
    rule = "{id: r, program: git, effect: ask, examples: {match: [ls]}}"
    path = write(world, "p.yaml", f"commands:\n  rules:\n    - {rule}")
    return ["--policy", path], r"p\.yaml:5: rule 'r': expected a match for the example 'ls'"


def unknown_key(world, _machine):
    path = write(world, "p.yaml", "limit: {steps: 1}")
    return ["--policy", path], r"p\.yaml:3: unknown key 'limit'; nearest: 'limits'"


def unreadable_layer(world, _machine):
    (world.root / "config" / "policy.yaml").mkdir(parents=True)
    return [], r"config/policy\.yaml: cannot be read: expected a regular file, got a directory"


def user_layer_astray(world, _machine):
    (world.root / "config").mkdir()
    (world.root / "config" / "policy.yaml").symlink_to("/nowhere/policy.yaml")
    return [], r"config/policy\.yaml: cannot be read: No such file"


def project_loosens(world, _machine):
    write(world, ".glovebox/policy.yaml", "commands: {default: allow}")
    return [], r"\.glovebox/policy\.yaml:3: commands\.default: allow would loosen"


def project_unknown(world, _machine):
    write(world, ".glovebox/policy.yaml", "limits: {steps: 3}")
    return [], r"\.glovebox/policy\.yaml:1: nobody has said yes .*its digest is sha256:\w+"


def tampered_policy(_world, machine):
    machine.install(text=ORG)
    machine.put("org", "limits: {steps: 9999}")
    return [], r"/etc/glovebox/org\.yaml:1: changed since it was signed: expected sha256:\w+, got"


def tampered_signature(_world, machine):
    machine.install(text=ORG)
    machine.sign("org", issued="2031-01-01T00:00:00Z")
    return [], r"/etc/glovebox/org\.yaml\.sig:9: the signature does not hold"


def unsigned(_world, machine):
    machine.install(text=ORG)
    (machine.path / "org.yaml.sig").unlink()
    return [], r"/etc/glovebox/org\.yaml\.sig: cannot be read: No such file"


def policy_missing(_world, machine):
    machine.install(text=ORG)
    (machine.path / "org.yaml").unlink()
    return [], r"/etc/glovebox/org\.yaml: cannot be read: No such file"


def key_missing(_world, machine):
    machine.install(text=ORG)
    (machine.path / "org.pub").unlink()
    return [], r"/etc/glovebox/org\.pub: cannot be read: No such file"


def not_roots(_world, machine):
    open_to_all(machine.install(text=ORG))
    return [], r"/etc/glovebox/org\.yaml: expected to be owned by root, got uid 65534"


def writable(_world, machine):
    machine.install(text=ORG).chmod(0o666)
    return [], r"/etc/glovebox/org\.yaml: expected a mode in which only its owner can write"


def broken_team(_world, machine):
    machine.install(text=ORG)
    machine.install("team", "limits: {steps: x}")
    return [], r"/etc/glovebox/team\.yaml:3: limits\.steps: expected a whole number, got 'x'"


def yolo(_world, machine):
    machine.install(text=ORG)
    return ["--yolo"], r"--yolo: .* approvals\.yolo is deny \(org /etc/glovebox/org\.yaml:4\)"


def other_image(_world, machine):
    machine.install(text="extends: [default]\nsandbox: {image: acme/box}")
    return ["--image", "mine"], r"--image mine: expected acme/box \(org /etc/glovebox/org\.yaml:4\)"


REFUSED = [
    broken,
    failing_example,
    unknown_key,
    unreadable_layer,
    user_layer_astray,
    project_loosens,
    project_unknown,
    tampered_policy,
    tampered_signature,
    unsigned,
    policy_missing,
    key_missing,
    not_roots,
    writable,
    broken_team,
    yolo,
    other_image,
]


@pytest.mark.parametrize("spoil", REFUSED, ids=lambda spoil: spoil.__name__)
def test_run_refuses_with_place_and_mend_and_leaves_nothing(world, machine, spoil):
    """Exit 7; no session, no record, no box, and the line and what to do on stderr."""
    flags, expected = spoil(world, machine)
    script = world.script({"text": "hello"})
    plain = {"GLOVEBOX_DEBUG": None}
    ended = machine.run(world, "run", "hi", "-m", script, *flags, env=plain)

    assert (ended.code, ended.out) == (7, ""), ended.err
    first, mend = ended.err.splitlines()
    assert re.search(expected, first), ended.err
    assert re.match(r"  \S.{20}", mend), ended.err
    assert not list(world.state.glob("sessions/*/*"))
    assert not list(world.state.glob("audit/*"))
    assert not list(world.state.glob("work/*"))


COMMANDS = [
    ["run", "hi", "-m", "scripted:x"],
    ["pool", "warm"],
    ["trust"],
    ["diff"],
    ["apply"],
    ["policy", "explain", "ls"],
    ["policy", "show"],
    ["policy", "test", "cases.yaml"],
    ["policy", "diff", "default", "strict"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_that_judges_refuses_beside_a_tampered_layer(world, machine, command):
    """There is no door that looks away."""
    machine.install(text=ORG)
    machine.put("org", "limits: {steps: 9999}")
    (world.project / "cases.yaml").write_text("- {id: a, command: ls, expect: allow}\n")
    ended = machine.run(world, *command)

    assert ended.code == 7, (ended.out, ended.err)
    assert "/etc/glovebox/org.yaml:1: changed since it was signed" in ended.err


def test_doctor_tells_what_is_installed_and_whether_it_holds(world, machine):
    """An administrator sees it without starting anything."""
    machine.install(text=ORG, serial=3)
    well = json.loads(machine.run(world, "doctor", "--quick", "--json").out)
    machine.put("org", "limits: {steps: 9999}")
    ill = json.loads(machine.run(world, "doctor", "--quick", "--json").out)
    found, spoilt = (
        next(row for row in report["checks"] if row["name"] == "policy") for report in (well, ill)
    )

    assert (found["status"], spoilt["status"]) == ("ok", "fail")
    assert found["found"].startswith(f"org serial 3, key {machine.public.id}")
    assert "changed since it was signed" in spoilt["found"]


def test_shell_refuses_beside_a_tampered_layer(world, machine):
    """It needs a terminal, so it is tried on one."""
    machine.install(text=ORG)
    machine.put("org", "limits: {steps: 9999}")
    first, *more = machine.command("shell")
    child = pexpect.spawn(first, more, cwd=world.project, env=world.env(), timeout=60)
    child.expect_exact(b"/etc/glovebox/org.yaml:1: changed since it was signed")
    child.expect(pexpect.EOF)
    child.close()

    assert child.exitstatus == 7


def test_installed_layer_binds_a_run_and_is_in_its_record(world, machine):
    """Its denial reaches the model; events and audit name layers, digests, key and serial."""
    machine.install(text=ORG, serial=12)
    machine.install("team", "limits: {steps: 5}", serial=2)
    model = world.script(bash("acme-tool --version"), {"text": "done"})
    ended = machine.run(world, "run", "hi", "-m", model, "--json", "--policy", "yolo")

    assert ended.code == 0, ended.err
    [decision] = ended.of("decision")
    assert (decision["effect"], decision["layer"], decision["rule"]) == ("deny", "org", "no-tool")
    layers = ended.of("session_start")[0]["policy"]["layers"]
    assert [row["layer"] for row in layers] == ["org", "team", "session"]
    assert (layers[0]["key"], layers[0]["serial"]) == (machine.public.id, 12)
    [log] = world.state.glob("audit/*.jsonl")
    records = [json.loads(line) for line in log.read_text().splitlines()]
    genesis, start = (
        next(record["body"] for record in records if record["type"] == kind)
        for kind in ("genesis", "session_start")
    )
    assert genesis["layers"] == start["layers"] == layers


def test_explain_test_and_show_are_under_installed_layers(world, machine):
    """What they say is what a run would do; each value has its layer, file and line."""
    path = "/etc/glovebox/org.yaml"
    machine.install(text=ORG)
    explained = machine.run(world, "policy", "explain", "acme-tool", "--policy", "yolo", "--json")
    assert json.loads(explained.out)["place"] == f"{path}:9"
    (world.project / "cases.yaml").write_text("- {id: a, command: acme-tool, expect: deny}\n")
    assert machine.run(world, "policy", "test", "cases.yaml", "--policy", "yolo").code == 0

    shown = machine.run(world, "policy", "show", "--effective")
    assert re.search(rf"limits\.steps +7  \[org {path}:5\]", shown.out)
    assert "overridden: 200  [session policies/default.yaml:" in shown.out
    assert f"signed by {machine.public.id}, serial 1" in shown.out


def test_what_is_installed_verifies_by_its_pinned_key(world, machine):
    """The administrator's last step, as anybody can take it."""
    machine.install(text=ORG, serial=2)
    held = machine.run(world, "policy", "verify", "/etc/glovebox/org.yaml")
    assert (held.code, held.err) == (0, "")
    assert f"layer org, serial 2, key {machine.public.id}" in held.out

    machine.put("org", "limits: {steps: 9999}")
    assert machine.run(world, "policy", "verify", "/etc/glovebox/org.yaml").code == 7


def test_apply_holds_what_is_protected_by_now(world, machine):
    """A session that began before the policy came brings nothing past it."""
    write_it = {
        "tool_calls": [{"name": "write", "arguments": {"path": "deploy/run.sh", "content": "x"}}]
    }
    ended = world.run("run", "hi", "-m", world.script(write_it, {"text": "done"}))
    assert ended.code == 0, ended.err
    machine.install(text=ORG)
    refused = machine.run(world, "apply")

    assert refused.code == 1, refused.err
    assert "it is protected" in refused.err + refused.out
    assert not (world.project / "deploy").exists()
    assert world.run("apply").code == 0
    assert (world.project / "deploy" / "run.sh").exists()


def test_old_signed_policy_is_refused_after_a_newer_one_ran(world, machine):
    """Replaying a good signature does not bring a looser policy back."""
    machine.install(text="limits: {steps: 900}", serial=3)
    assert machine.run(world, "policy", "explain", "ls").code == 0
    machine.install(text=ORG, serial=4)
    assert machine.run(world, "policy", "explain", "ls").code == 0
    machine.install(text="limits: {steps: 900}", serial=3)
    refused = machine.run(world, "policy", "explain", "ls")

    assert refused.code == 7
    assert "expected serial 4 or higher" in refused.err


def test_governed_user_has_no_way_around(machine):
    """Neither by variables, configuration, flags, nor by the files themselves."""
    machine.install(text=ORG)
    with tempfile.TemporaryDirectory(prefix="gb-user-") as folder:
        world = World(Path(folder))
        world.project.mkdir()
        elsewhere = world.root / "etc" / "glovebox"
        elsewhere.mkdir(parents=True)
        (world.root / "config").mkdir()
        (world.root / "config" / "policy.yaml").write_text(
            "version: 1\nname: mine\ncommands: {default: allow}\napprovals: {yolo: allow}\n"
        )
        open_to_all(world.root)
        hopes = {
            name: str(elsewhere)
            for name in ("GLOVEBOX_SYSTEM", "GLOVEBOX_ETC", "GLOVEBOX_ORG", "XDG_CONFIG_DIRS")
        }
        env = hopes | {"HOME": str(world.root), "GLOVEBOX_POLICY": "yolo"}
        asked = machine.run(world, "policy", "explain", "acme-tool", "--json", uid=65534, env=env)
        assert json.loads(asked.out)["effect"] == "deny", asked.err
        assert json.loads(asked.out)["layer"] == "org"
        yes = machine.run(world, "run", "hi", "-m", "scripted:x", "--yolo", uid=65534, env=env)
        assert (yes.code, "approvals.yolo is deny" in yes.err) == (7, True), yes.err

        (machine.path / "org.yaml").chmod(0o600)
        unread = machine.run(world, "policy", "explain", "ls", uid=65534, env=env)
        assert unread.code == 7
        assert "/etc/glovebox/org.yaml: cannot be read: Permission denied" in unread.err
        machine.path.chmod(0o700)
        unseen = machine.run(world, "policy", "explain", "ls", uid=65534, env=env)
        assert unseen.code == 7
        assert "/etc/glovebox: cannot be looked at: Permission denied" in unseen.err
