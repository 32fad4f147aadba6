"""The Ed25519 key that signs checkpoints, and the check anyone can make with its public half."""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from orchestrator.audit.files import sync_directory
from orchestrator.errors import AuditError
from orchestrator.named_file import read_named
from orchestrator.schema.ids import Digest, SessionId

_KEY_FILE = "audit-ed25519.key"
_PUBLIC_FILE = "audit-ed25519.pub"
_SCHEME = "ed25519:"
_SEED_BYTES = 32
_MAX_PUBLIC = 4096


@dataclass(frozen=True, slots=True)
class Statement:
    """What a checkpoint's signature vouches for: the chain up to and with record ``seq``."""

    session: SessionId
    seq: int
    head: Digest
    """The hash of record ``seq``, and so of all before it."""
    final: bool
    """True when the writer says that nothing follows."""

    def signed_bytes(self) -> bytes:
        """Return the canonical bytes under the signature; ``context`` keeps other uses apart."""
        return rfc8785.dumps(
            {
                "context": "glovebox audit checkpoint v1",
                "session": self.session,
                "seq": self.seq,
                "head": self.head,
                "final": self.final,
            }
        )


class Signer:
    """Holds a private key and never shows it."""

    def __init__(self, seed: bytes) -> None:
        """Take the 32 secret bytes of an Ed25519 key."""
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public_key = (
            _SCHEME + base64.b64encode(self._key.public_key().public_bytes_raw()).decode()
        )
        """``ed25519:`` and 32 bytes in base64."""

    @classmethod
    def load(cls, keys: Path) -> Signer:
        """Return the signer of a key folder; the first use makes the key, mode 0600."""
        path = keys / _KEY_FILE
        try:
            try:
                signer = cls(_read_seed(path))
            except FileNotFoundError:
                signer = cls(_create_seed(keys))
            _publish(keys / _PUBLIC_FILE, signer.public_key)
        except OSError as err:
            raise AuditError(f"{path}: the audit key cannot be used: {err.strerror}") from err
        return signer

    def sign(self, statement: Statement) -> str:
        """Return the signature in base64."""
        return base64.b64encode(self._key.sign(statement.signed_bytes())).decode()


def is_signed_by(public_key: str, statement: Statement, signature: Any) -> bool:
    """Say whether the key's owner signed exactly this statement."""
    try:
        raw = base64.b64decode(str(signature), validate=True)
        key = Ed25519PublicKey.from_public_bytes(_public_bytes(public_key))
        key.verify(raw, statement.signed_bytes())
    except (InvalidSignature, ValueError):
        return False
    # One signature, one spelling: base64 leaves spare bits that decoding ignores.
    return bool(base64.b64encode(raw).decode() == signature)


def parse_public_key(text: str) -> str:
    """Return a public key in its one form; raises AuditError when the text is none."""
    try:
        raw = _public_bytes(text.strip())
        Ed25519PublicKey.from_public_bytes(raw)
    except ValueError as err:
        raise AuditError(
            "public key: expected ed25519: and 32 bytes in base64",
            hint=f"pass the text or the file {_PUBLIC_FILE} that stands beside the signing key",
        ) from err
    return _SCHEME + base64.b64encode(raw).decode()


def read_public_key(keys: Path) -> str | None:
    """Return the public key this machine signs with, None before the first use."""
    try:
        text = read_named(keys / _PUBLIC_FILE, limit=_MAX_PUBLIC)
        return parse_public_key(text.decode("ascii", "replace"))
    except FileNotFoundError:
        return None
    except OSError as err:
        raise AuditError(f"{keys / _PUBLIC_FILE}: {err.strerror}") from err


def _public_bytes(text: str) -> bytes:
    if not text.startswith(_SCHEME):
        raise ValueError("no ed25519: in front")
    try:
        return base64.b64decode(text.removeprefix(_SCHEME), validate=True)
    except binascii.Error as err:
        raise ValueError(str(err)) from err


def _read_seed(path: Path) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode) or info.st_mode & 0o077 or info.st_uid != os.geteuid():
            raise AuditError(
                f"{path}: expected a file of mode 0600 that is yours, "
                f"got mode {stat.S_IMODE(info.st_mode):04o} and uid {info.st_uid}",
                hint="someone else may have read or made the key; move it away and a new one is made",
            )
        seed = os.read(fd, _SEED_BYTES + 1)
    finally:
        os.close(fd)
    if len(seed) != _SEED_BYTES:
        raise AuditError(f"{path}: expected {_SEED_BYTES} bytes, got another length")
    return seed


def _create_seed(keys: Path) -> bytes:
    """Make the key whole or not at all; of two processes that try, both get the winner's."""
    path = keys / _KEY_FILE
    keys.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = _write_draft(path, secrets.token_bytes(_SEED_BYTES), mode=0o600)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    sync_directory(keys)
    return _read_seed(path)


def _publish(path: Path, public_key: str) -> None:
    line = f"{public_key}\n".encode()
    if not path.is_file() or path.read_bytes() != line:
        _write_draft(path, line, mode=0o644).replace(path)


def _write_draft(path: Path, data: bytes, *, mode: int) -> Path:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(fd)
    return draft
