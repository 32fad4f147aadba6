"""``glovebox policy keygen|sign|verify``, run as administrators run them."""

import json
from pathlib import Path

import pexpect
import pytest

from tests.support.world import GLOVEBOX, World

POLICY = "version: 1\nname: acme\nextends: [default]\napprovals: {yolo: deny}\n"


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    made.project.mkdir()
    (made.project / "org.yaml").write_text(POLICY)
    assert made.run("policy", "keygen", "admin.key").code == 0
    return made


def sign(world, *more):
    return world.run("policy", "sign", "org.yaml", "--key", "admin.key", *more)


def verify(world, *more):
    return world.run("policy", "verify", "org.yaml", "--key", "admin.key.pub", *more)


def test_signed_policy_verifies_and_a_changed_one_does_not(world):
    """Exit 7, with what was expected and what is there."""
    signed = sign(world, "--json")
    facts = json.loads(signed.out)
    checked = verify(world, "--json")

    assert (signed.code, checked.code) == (0, 0)
    assert json.loads(checked.out) == facts
    assert (facts["layer"], facts["serial"], facts["algorithm"]) == ("org", 1, "ed25519")
    text = (world.project / "admin.key.pub").read_text().split("\n")[1]
    assert world.run("policy", "verify", "org.yaml", "--key", text).code == 0

    (world.project / "org.yaml").write_text(POLICY + "# more\n")
    changed = verify(world)
    assert (changed.code, changed.out) == (7, "")
    assert "org.yaml:1: changed since it was signed: expected sha256:" in changed.err


def test_each_signature_counts_one_up(world):
    """So that machines know the newer; --serial says otherwise."""
    serials = [json.loads(sign(world, "--json").out)["serial"] for _ in range(3)]
    jumped = json.loads(sign(world, "--json", "--serial", "40").out)["serial"]

    assert serials == [1, 2, 3]
    assert jumped == 40
    assert "serial 41" in sign(world).out


def test_policy_that_would_not_load_is_not_signed(world):
    """A release that stops every machine is found before it is one."""
    (world.project / "org.yaml").write_text(POLICY + "limit: {steps: 1}\n")
    refused = sign(world)

    assert refused.code == 7
    assert "org.yaml:5: unknown key 'limit'; nearest: 'limits'" in refused.err
    assert not (world.project / "org.yaml.sig").exists()


def test_layers_are_told_apart(world):
    """A team's signature does not verify as the organisation's."""
    assert sign(world, "--layer", "team").code == 0

    assert verify(world, "--layer", "team").code == 0
    refused = verify(world)
    assert refused.code == 7
    assert "expected a signature for the layer org, got one for team" in refused.err


def test_what_is_missing_is_told(world):
    """No signature yet; no pinned key; a key that others can read."""
    unsigned = verify(world)
    assert unsigned.code == 7
    assert "org.yaml.sig: cannot be read" in unsigned.err
    assert "glovebox policy sign" in unsigned.err

    if not Path("/etc/glovebox").exists():
        unpinned = world.run("policy", "verify", "org.yaml")
        assert unpinned.code == 2
        assert "no key is pinned here (/etc/glovebox/org.pub)" in unpinned.err

    (world.project / "admin.key").chmod(0o644)
    refused = sign(world)
    assert refused.code == 7
    assert "got mode 0644" in refused.err
    again = world.run("policy", "keygen", "admin.key")
    assert again.code == 2
    assert "is there already" in again.err


def test_passphrase_is_asked_for_unseen(world):
    """Twice when it is made, once for each signature; never taken from a pipe."""
    made = pexpect.spawn(
        str(GLOVEBOX),
        ["policy", "keygen", "sealed.key", "--passphrase"],
        cwd=world.project,
        env=world.env(),
        encoding="utf-8",
        timeout=30,
    )
    for prompt in ("Passphrase for the key: ", "The same again: "):
        made.expect_exact(prompt)
        made.sendline("open sesame")
    made.expect(pexpect.EOF)
    made.close()
    assert made.exitstatus == 0
    assert "ENCRYPTED" in (world.project / "sealed.key").read_text()

    signing = pexpect.spawn(
        str(GLOVEBOX),
        ["policy", "sign", "org.yaml", "--key", "sealed.key"],
        cwd=world.project,
        env=world.env(),
        encoding="utf-8",
        timeout=30,
    )
    signing.expect_exact("Passphrase of sealed.key: ")
    signing.sendline("open sesame")
    signing.expect("serial 1")
    signing.expect(pexpect.EOF)
    signing.close()
    assert signing.exitstatus == 0
    assert world.run("policy", "verify", "org.yaml", "--key", "sealed.key.pub").code == 0
