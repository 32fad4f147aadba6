"""The signing key is made once, kept private, and checked by anyone with its public half."""

import os
import stat
import threading
from pathlib import Path

import pytest

from orchestrator.audit.signer import (
    Signer,
    Statement,
    is_signed_by,
    parse_public_key,
    read_public_key,
)
from orchestrator.errors import AuditError
from orchestrator.schema.ids import Digest, SessionId

STATEMENT = Statement(SessionId("0123456789ab"), 7, Digest("sha256:" + "a" * 64), final=False)


def test_first_use_makes_a_private_key_and_its_public_half(tmp_path: Path) -> None:
    """The key file is the owner's alone; the public one may be handed out."""
    keys = tmp_path / "keys"

    signer = Signer.load(keys)

    assert stat.S_IMODE((keys / "audit-ed25519.key").stat().st_mode) == 0o600
    assert stat.S_IMODE(keys.stat().st_mode) == 0o700
    assert (keys / "audit-ed25519.pub").read_text() == f"{signer.public_key}\n"
    assert sorted(file.name for file in keys.iterdir()) == [
        "audit-ed25519.key",
        "audit-ed25519.pub",
    ]


def test_second_use_takes_the_same_key(tmp_path: Path) -> None:
    """A chain can be resumed by a later process."""
    assert Signer.load(tmp_path).public_key == Signer.load(tmp_path).public_key


def test_lost_public_half_is_written_again(tmp_path: Path) -> None:
    """A crash between the two files heals itself."""
    key = Signer.load(tmp_path).public_key
    (tmp_path / "audit-ed25519.pub").write_text("ed25519:other")

    Signer.load(tmp_path)

    assert read_public_key(tmp_path) == key


def test_processes_that_start_at_once_share_one_key(tmp_path: Path) -> None:
    """The first maker wins, and nobody signs with a key that is not on disk."""
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(Signer.load(tmp_path).public_key))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 8
    assert set(found) == {Signer.load(tmp_path).public_key}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_key_that_others_could_read_is_refused(tmp_path: Path, mode: int) -> None:
    """A key that may be known to others proves nothing."""
    Signer.load(tmp_path)
    (tmp_path / "audit-ed25519.key").chmod(mode)

    with pytest.raises(AuditError, match="expected a file of mode 0600 that is yours") as caught:
        Signer.load(tmp_path)
    assert caught.value.hint


@pytest.mark.parametrize("length", [0, 31, 33])
def test_key_of_wrong_length_is_refused(tmp_path: Path, length: int) -> None:
    """A damaged key is never padded or cut."""
    path = tmp_path / "audit-ed25519.key"
    path.write_bytes(b"x" * length)
    path.chmod(0o600)

    with pytest.raises(AuditError, match="expected 32 bytes"):
        Signer.load(tmp_path)


def test_key_behind_a_link_is_refused(tmp_path: Path) -> None:
    """The key is the file itself, not what a link points to."""
    (tmp_path / "audit-ed25519.key").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(AuditError, match="cannot be used"):
        Signer.load(tmp_path)


def test_key_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """Reading never waits for a writer."""
    os.mkfifo(tmp_path / "audit-ed25519.key", 0o600)

    with pytest.raises(AuditError, match="expected a file"):
        Signer.load(tmp_path)


def test_signature_holds_for_its_statement_alone() -> None:
    """No field can be changed, and no other key can have signed."""
    signer = Signer(bytes(32))
    signature = signer.sign(STATEMENT)
    others = [
        Statement(SessionId("0123456789ac"), 7, STATEMENT.head, final=False),
        Statement(STATEMENT.session, 8, STATEMENT.head, final=False),
        Statement(STATEMENT.session, 7, Digest("sha256:" + "b" * 64), final=False),
        Statement(STATEMENT.session, 7, STATEMENT.head, final=True),
    ]

    assert is_signed_by(signer.public_key, STATEMENT, signature)
    assert not any(is_signed_by(signer.public_key, other, signature) for other in others)
    assert not is_signed_by(Signer(b"1" * 32).public_key, STATEMENT, signature)


@pytest.mark.parametrize("signature", [None, 7, "", "!", "AAAA", ["x"]])
def test_thing_that_is_no_signature_signs_nothing(signature: object) -> None:
    """Malformed signatures are bad ones, not errors."""
    assert not is_signed_by(Signer(bytes(32)).public_key, STATEMENT, signature)


def test_signature_has_one_spelling() -> None:
    """The spare bits of base64 are not free to change."""
    signer = Signer(bytes(32))
    signature = signer.sign(STATEMENT)
    assert signature.endswith("==")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = alphabet[alphabet.index(signature[-3]) ^ 1]

    assert not is_signed_by(signer.public_key, STATEMENT, f"{signature[:-3]}{last}==")


@pytest.mark.parametrize("text", ["", "ed25519:", "ed25519:!", "ed25519:AAAA", "rsa:AAAA"])
def test_text_that_is_no_public_key_is_refused(text: str) -> None:
    """A mistyped pin never passes for a key."""
    with pytest.raises(AuditError, match="expected ed25519: and 32 bytes"):
        parse_public_key(text)


def test_key_of_other_scheme_signs_nothing() -> None:
    """A chain that names an unknown kind of key is not verified by accident."""
    assert not is_signed_by("rsa:AAAA", STATEMENT, Signer(bytes(32)).sign(STATEMENT))


def test_public_key_is_read_from_its_text() -> None:
    """What the file holds can be pasted, with its line feed."""
    key = Signer(bytes(32)).public_key

    assert parse_public_key(f"{key}\n") == key


def test_machine_without_key_has_no_public_key(tmp_path: Path) -> None:
    """Verifying makes no key."""
    assert read_public_key(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_public_key_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """An unreadable pin is not the same as none."""
    (tmp_path / "audit-ed25519.pub").mkdir()

    with pytest.raises(AuditError, match=r"audit-ed25519\.pub"):
        read_public_key(tmp_path)


def test_public_key_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """Nobody writes to it, and ``audit verify`` would wait."""
    os.mkfifo(tmp_path / "audit-ed25519.pub")

    with pytest.raises(AuditError, match="expected a regular file, got a named pipe"):
        read_public_key(tmp_path)
