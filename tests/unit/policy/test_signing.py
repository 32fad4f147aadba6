"""An administrator's key, and what it signs."""

import os
import shutil
import subprocess
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from orchestrator.errors import PolicyError, UsageError
from orchestrator.policy.public_keys import parse_keys
from orchestrator.policy.signature import check_signature
from orchestrator.policy.signing import PolicySigner, generate_key

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


def no_passphrase():
    raise AssertionError("the key has no passphrase")


def test_what_is_signed_holds_for_exactly_these_bytes(tmp_path):
    """A comment more is another policy."""
    generate_key(tmp_path / "k", None)
    signer = PolicySigner.load(tmp_path / "k", no_passphrase)
    signed = signer.sign(b"version: 1\n", layer="org", serial=4, now=NOW)
    data = signed.model_dump_json().encode()
    keys = parse_keys((tmp_path / "k.pub").read_bytes(), file="k.pub")

    found = check_signature(b"version: 1\n", data, keys, layer="org", file="p.yaml")
    assert (found.serial, found.issued, found.key) == (4, "2026-11-30T12:00:00Z", keys[0].id)
    with pytest.raises(PolicyError, match=r"p.yaml:1: changed since it was signed"):
        check_signature(b"version: 1\n#\n", data, keys, layer="org", file="p.yaml")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("serial", 5),
        ("issued", "2026-11-30T12:00:01Z"),
        ("layer", "team"),
        ("digest", "sha256:" + "0" * 64),
    ],
)
def test_every_field_is_under_the_signature(tmp_path, field, value):
    """None can be changed without the key."""
    generate_key(tmp_path / "k", None)
    signer = PolicySigner.load(tmp_path / "k", no_passphrase)
    signed = signer.sign(b"x", layer="org", serial=4, now=NOW)
    data = signed.model_copy(update={field: value}).model_dump_json().encode()

    with pytest.raises(PolicyError, match="the signature does not hold"):
        check_signature(b"x", data, (signer.public,), layer="org", file="p.yaml")


def test_field_that_stands_twice_is_refused(tmp_path):
    """Readers differ in which of the two counts."""
    generate_key(tmp_path / "k", None)
    signer = PolicySigner.load(tmp_path / "k", no_passphrase)
    signed = signer.sign(b"x", layer="org", serial=4, now=NOW).model_dump_json()
    data = signed.replace("{", '{"serial": 9, ', 1).encode()

    with pytest.raises(PolicyError, match="serial is given twice"):
        check_signature(b"x", data, (signer.public,), layer="org", file="p.yaml")


def test_key_with_a_passphrase_asks_for_it(tmp_path):
    """And another one does not open it."""
    made = generate_key(tmp_path / "k", b"open sesame")

    assert PolicySigner.load(tmp_path / "k", lambda: b"open sesame").public == made
    with pytest.raises(PolicyError, match="Ed25519 private key in PEM and its passphrase"):
        PolicySigner.load(tmp_path / "k", lambda: b"open barley")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_key_of_another_tool_signs_too(tmp_path):
    """PKCS#8 is what everyone writes."""
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "ed25519", "-out", tmp_path / "k"], check=True
    )
    (tmp_path / "k").chmod(0o600)

    assert len(PolicySigner.load(tmp_path / "k", no_passphrase).public.raw) == 32


def test_key_that_others_can_read_is_refused(tmp_path):
    """It may have been copied already."""
    generate_key(tmp_path / "k", None)
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o600
    (tmp_path / "k").chmod(0o640)
    with pytest.raises(PolicyError, match="only its owner can read, got mode 0640") as caught:
        PolicySigner.load(tmp_path / "k", no_passphrase)
    assert "chmod 600" in caught.value.hint

    (tmp_path / "link").symlink_to(tmp_path / "k")
    with pytest.raises(PolicyError, match="the key cannot be read"):
        PolicySigner.load(tmp_path / "link", no_passphrase)


@pytest.mark.skipif(os.geteuid() != 0, reason="giving a file away takes root")
def test_key_of_another_user_is_refused(tmp_path):
    """Its owner could change it under one's hands."""
    generate_key(tmp_path / "k", None)
    os.chown(tmp_path / "k", 12345, 0)

    with pytest.raises(PolicyError, match="expected a key of yours, got one of uid 12345"):
        PolicySigner.load(tmp_path / "k", no_passphrase)


def test_other_kinds_of_keys_are_told_apart(tmp_path):
    """No fallback to whatever a file holds."""
    made = rsa.generate_private_key(65537, 2048)
    pem = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for name, data in (("rsa", pem), ("text", b"hello"), ("empty", b"")):
        path = tmp_path / name
        path.write_bytes(data)
        path.chmod(0o600)
        with pytest.raises(PolicyError, match="expected an Ed25519 private key"):
            PolicySigner.load(path, no_passphrase)


@pytest.mark.parametrize("there", ["k", "k.pub"])
def test_no_key_is_replaced(tmp_path, there):
    """What was signed with it could not be signed again."""
    (tmp_path / there).write_text("mine")

    with pytest.raises(UsageError, match=f"{there}: is there already"):
        generate_key(tmp_path / "k", None)
    assert (tmp_path / there).read_text() == "mine"


def test_key_that_is_no_file_is_told_from_one_that_others_can_read(tmp_path):
    """No mode mends a pipe, nor a circle of links."""
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "circle").symlink_to("circle")

    with pytest.raises(PolicyError, match="expected a regular file, got p") as told:
        PolicySigner.load(tmp_path / "pipe", no_passphrase)
    assert "keygen" in told.value.hint
    with pytest.raises(PolicyError, match="cannot be read") as told:
        PolicySigner.load(tmp_path / "circle", no_passphrase)
    assert "keygen" in told.value.hint
