"""Layers that a machine's owner installed: they hold, or nothing starts."""

import os
import re
import shutil
from pathlib import Path

import pytest

from orchestrator.errors import PolicyError
from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.installed import pinned_keys
from orchestrator.policy.load import load_policy
from orchestrator.policy.owned_folder import OwnedFolder
from orchestrator.schema.request import ExecRequest
from tests.support.installed import Installation


@pytest.fixture
def machine(tmp_path):
    return Installation(tmp_path)


@pytest.fixture
def loaded(machine, tmp_path):
    """Loads a session's policy on the machine."""
    (tmp_path / "p.yaml").write_text(
        "version: 1\nname: p\nlimits: {steps: 50}\ntools: {default: allow}\n"
        "commands: {default: allow}\n"
    )
    (tmp_path / "base.yaml").write_text("version: 1\nname: base\nlimits: {tokens: 9}\n")

    def load():
        return load_policy(
            ["p"],
            search=tmp_path,
            user_file=None,
            system=machine.folder,
            state=tmp_path / "state",
        )

    return load


def test_installed_layers_stand_above_and_say_who_vouches(machine, loaded):
    """Org, then team, then the session; each with the digest of its bytes and its key."""
    path = machine.install("org", "extends: [base]\nlimits: {steps: 7}", serial=3)
    machine.install("team", "commands: {rules: [{id: no-make, program: make, effect: deny}]}")
    policy = loaded()

    assert [layer.name for layer in policy.layers] == ["org", "team", "session"]
    assert (policy.limits.steps, policy.limits.tokens) == (7, 9)
    assert str(policy.origins["limits.steps"].place) == f"{path}:4"
    source = policy.layers[0].source
    assert (source.file, source.signed.serial) == (str(path), 3)
    assert source.signed.key == machine.public.id
    decision = evaluate(policy, ExecRequest("make", "/workspace", 1.0), tool="bash")
    assert (decision.effect, decision.layer, decision.rule) == ("deny", "team", "no-make")


def test_machine_without_any_is_as_it_was(machine, loaded):
    """An empty folder, and none, install nothing."""
    assert [layer.name for layer in loaded().layers] == ["session"]
    machine.path.rmdir()
    assert [layer.name for layer in loaded().layers] == ["session"]


@pytest.mark.parametrize("missing", ["org.yaml", "org.yaml.sig", "org.pub"])
def test_one_of_the_three_files_missing_refuses(machine, loaded, missing):
    """What was mandatory does not become optional by taking a part away."""
    machine.install()
    (machine.path / missing).unlink()

    with pytest.raises(PolicyError, match=f"etc/glovebox/{missing}: cannot be read: No such file"):
        loaded()


def spoil_policy(machine):
    machine.put("org", "limits: {steps: 9999}")
    return r"org.yaml:1: changed since it was signed: expected sha256:\w+, got sha256:\w+"


def spoil_digest(machine):
    machine.put("org", "limits: {steps: 9999}")
    machine.sign("org", digest="sha256:" + "0" * 64)
    return r"org.yaml.sig:9: the signature does not hold"


def spoil_serial(machine):
    machine.sign("org", serial=1)
    text = (machine.path / "org.yaml.sig").read_text()
    machine.write("org.yaml.sig", text.replace('"serial": 1', '"serial": 99').encode())
    return r"org.yaml.sig:9: the signature does not hold"


def foreign_key(machine):
    other = machine.path.parent.parent / "other"
    other.mkdir()
    stranger = Installation(other)
    stranger.install()
    shutil.copy(stranger.path / "org.yaml.sig", machine.path)
    return rf"org.yaml.sig:5: expected a signature by a pinned key \({machine.public.id}\), got one"


def forged_key_id(machine):
    other = machine.path.parent.parent / "other"
    other.mkdir()
    stranger = Installation(other)
    stranger.install()
    text = (stranger.path / "org.yaml.sig").read_text()
    machine.write("org.yaml.sig", text.replace(stranger.public.id, machine.public.id).encode())
    return r"org.yaml.sig:9: the signature does not hold"


def other_layer(machine):
    machine.install("team")
    shutil.copy(machine.path / "team.yaml", machine.path / "org.yaml")
    shutil.copy(machine.path / "team.yaml.sig", machine.path / "org.yaml.sig")
    return r"org.yaml.sig:3: expected a signature for the layer org, got one for team"


def no_json(machine):
    machine.write("org.yaml.sig", b"signed, honestly")
    return r"org.yaml.sig:1: this is no policy signature"


def unknown_field(machine):
    machine.sign("org", trusted=True)
    return r"org.yaml.sig:10: this is no policy signature: trusted"


def no_key(machine):
    machine.write("org.pub", b"# none\n\n")
    return r"org.pub:1: expected at least one public key"


def bad_key(machine):
    machine.write("org.pub", b"# ours\ned25519:AAAA\n")
    return r"org.pub:2: this is no public key: expected 32 bytes"


def unsound_policy(machine):
    machine.install(text="limit: {steps: 1}", serial=2)
    return r"org.yaml:3: unknown key 'limit'; nearest: 'limits'"


def path_extended(machine):
    machine.install(text="extends: [./more.yaml]", serial=2)
    return r"org.yaml:3: extends './more.yaml': expected the name of a shipped policy"


def wrong_name(machine):
    machine.write("policy.yaml", b"version: 1\nname: x\n")
    return r"policy.yaml: no layer has this name, so it would be ignored"


def writable_file(machine):
    (machine.path / "org.yaml").chmod(0o664)
    return r"org.yaml: expected a mode in which only its owner can write, got 0664"


def writable_key(machine):
    (machine.path / "org.pub").chmod(0o646)
    return r"org.pub: expected a mode in which only its owner can write, got 0646"


def writable_folder(machine):
    machine.path.chmod(0o777)
    return r"etc/glovebox: expected a mode in which only its owner can write, got 0777"


def writable_parent(machine):
    machine.path.parent.chmod(0o775)
    return r"etc: expected a mode in which only its owner can write, got 0775"


def linked_file(machine):
    real = machine.path.parent.parent / "mine.yaml"
    (machine.path / "org.yaml").rename(real)
    (machine.path / "org.yaml").symlink_to(real)
    return r"org.yaml: expected no symbolic link"


def linked_folder(machine):
    real = machine.path.parent.parent / "mine"
    machine.path.rename(real)
    machine.path.symlink_to(real)
    return r"etc/glovebox: expected no symbolic link"


def pipe(machine):
    (machine.path / "org.yaml").unlink()
    os.mkfifo(machine.path / "org.yaml", 0o644)
    return r"org.yaml: expected a regular file"


def folder_instead(machine):
    (machine.path / "org.pub").unlink()
    (machine.path / "org.pub").mkdir(mode=0o755)
    return r"org.pub: expected a regular file"


SPOILED = [
    spoil_policy,
    spoil_digest,
    spoil_serial,
    foreign_key,
    forged_key_id,
    other_layer,
    no_json,
    unknown_field,
    no_key,
    bad_key,
    unsound_policy,
    path_extended,
    wrong_name,
    writable_file,
    writable_key,
    writable_folder,
    writable_parent,
    linked_file,
    linked_folder,
    pipe,
    folder_instead,
]


@pytest.mark.parametrize("spoil", SPOILED, ids=lambda spoil: spoil.__name__)
def test_anything_that_does_not_hold_refuses_with_place_and_mend(machine, loaded, spoil):
    """No start beside a policy that cannot be trusted, and words that let its owner mend it."""
    machine.install()
    loaded()
    expected = spoil(machine)

    with pytest.raises(PolicyError, match=expected) as caught:
        loaded()
    assert caught.value.exit_code == 7
    assert caught.value.hint


def test_other_owner_refuses(machine, tmp_path):
    """A user's own folder is no organisation's."""
    machine.install()
    folder = OwnedFolder(tmp_path, owner=os.geteuid() + 1)

    with pytest.raises(PolicyError, match=r"expected to be owned by uid \d+, got uid \d+"):
        load_policy(["p"], search=tmp_path, user_file=None, system=folder)


def test_folder_that_leads_nowhere_is_no_absence(machine, loaded):
    """Not being able to tell is not the same as nothing there."""
    machine.path.rmdir()
    machine.path.symlink_to("/nonexistent/x")
    with pytest.raises(PolicyError, match="cannot be looked at"):
        loaded()
    machine.path.unlink()
    machine.path.write_text("")
    with pytest.raises(PolicyError, match="cannot be looked at"):
        loaded()


def test_old_policy_cannot_come_back(machine, loaded, tmp_path):
    """A signature that was good once is refused after a newer one was seen."""
    machine.install(serial=4)
    loaded()
    kept = tmp_path / "kept"
    shutil.copytree(machine.path, kept)
    machine.install(text="limits: {steps: 3}", serial=5)
    assert loaded().limits.steps == 3

    for name in ("org.yaml", "org.yaml.sig"):
        shutil.copy(kept / name, machine.path)
    with pytest.raises(PolicyError, match=r"expected serial 5 or higher.* got 4") as caught:
        loaded()
    assert "--serial 6" in caught.value.hint


def test_serial_belongs_to_one_policy(machine, loaded):
    """Two policies under one serial leave open which of them is the newer."""
    machine.install(serial=2)
    loaded()
    machine.install(text="limits: {steps: 3}", serial=2)

    with pytest.raises(PolicyError, match=r"serial 2 was seen here for another policy"):
        loaded()


def test_policy_that_does_not_load_is_not_remembered(machine, loaded):
    """A broken release is mended under the number after the last good one."""
    machine.install(serial=1)
    loaded()
    machine.install(text="limit: {steps: 1}", serial=2)
    with pytest.raises(PolicyError, match="unknown key"):
        loaded()

    machine.install(text="limits: {steps: 1}", serial=2)
    assert loaded().limits.steps == 1


def test_keys_change_hands_one_after_the_other(machine, loaded, tmp_path):
    """Two keys may be pinned while machines move from one to the next."""
    machine.install(serial=1)
    other = tmp_path / "next"
    other.mkdir()
    fresh = Installation(other)
    fresh.install(serial=2)
    both = f"# old\n{machine.public.text}\n{fresh.public.text} # new\n"
    machine.write("org.pub", both.encode())
    assert [key.id for key in pinned_keys(machine.folder, "org")] == [
        machine.public.id,
        fresh.public.id,
    ]
    assert loaded().layers[0].source.signed.key == machine.public.id

    for name in ("org.yaml", "org.yaml.sig"):
        shutil.copy(fresh.path / name, machine.path)
    assert loaded().layers[0].source.signed.key == fresh.public.id


def test_policy_of_the_administrators_page_can_be_installed(machine, tmp_path):
    """What the page shows is copied, so it must load, and deny what it says."""
    manual = (Path(__file__).parents[3] / "docs" / "organisations.md").read_text()
    text = re.search(r"```yaml\n(version: 1\nname: acme.*?)```", manual, re.DOTALL)[1]
    machine.write("org.yaml", text.encode())
    machine.sign("org")
    machine.write("org.pub", machine.public.text.encode())
    policy = load_policy(
        ["yolo"],
        search=Path(__file__).parents[3] / "policies",
        user_file=None,
        system=machine.folder,
        state=tmp_path / "state",
    )

    decision = evaluate(policy, ExecRequest("kubectl get pods", "/workspace", 1.0), tool="bash")
    assert (decision.effect, decision.layer) == ("deny", "org")
    assert policy.approvals.yolo == "deny"
    assert "bind" not in policy.workspace.modes
