"""The administrator's half of signed policies: a private key in a file, and what it signs.

Keys are PKCS#8 in PEM, with a passphrase or without, so that other tools can make and keep them.
"""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.errors import PolicyError, UsageError
from orchestrator.policy.public_keys import SCHEME, PublicKey
from orchestrator.policy.signature import PolicySignature, SignedLayer
from orchestrator.schema.ids import digest_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Passphrase = Callable[[], bytes]
"""Asks for the key's passphrase; called where the key has one."""

_MAX_KEY = 16 * 1024
"""Bytes; a real one has about 120, with a passphrase 300."""


class PolicySigner:
    """Holds a private key and never shows it."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        """Take the key."""
        self._key = key
        raw = key.public_key().public_bytes_raw()
        self.public = PublicKey(SCHEME + base64.b64encode(raw).decode())

    @classmethod
    def load(cls, path: Path, passphrase: Passphrase) -> PolicySigner:
        """Return the signer of a key file; PolicyError unless it is private and holds such a key."""
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - slow to load
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - the same
            Ed25519PrivateKey,
        )
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - the same
            load_pem_private_key,
        )

        pem = _read_private(path)
        try:
            secret = passphrase() if b"ENCRYPTED" in pem else None
            key = load_pem_private_key(pem, password=secret)
        except (ValueError, TypeError, UnsupportedAlgorithm) as err:
            raise PolicyError(
                f"{path}:1: expected an Ed25519 private key in PEM and its passphrase, "
                "could not read one",
                hint="glovebox policy keygen makes one",
            ) from err
        if not isinstance(key, Ed25519PrivateKey):
            raise PolicyError(
                f"{path}:1: expected an Ed25519 private key, got one of another kind",
                hint="glovebox policy keygen makes one",
            )
        return cls(key)

    def sign(
        self, policy: bytes, *, layer: SignedLayer, serial: int, now: datetime
    ) -> PolicySignature:
        """Return the signature of a policy's exact bytes."""
        unsigned = PolicySignature(
            version=1,
            layer=layer,
            algorithm="ed25519",
            key=self.public.id,
            digest=digest_of(policy),
            serial=serial,
            issued=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            signature="",
        )
        raw = self._key.sign(unsigned.signed_bytes())
        return unsigned.model_copy(update={"signature": base64.b64encode(raw).decode()})


def generate_key(path: Path, passphrase: bytes | None) -> PublicKey:
    """Make a key pair: ``path``, mode 0600, and ``path`` with ``.pub``; UsageError where one exists."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - slow to load
        Ed25519PrivateKey,
    )
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - the same
        BestAvailableEncryption,
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    key = Ed25519PrivateKey.generate()
    sealed = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, sealed)
    public = PolicySigner(key).public
    beside = path.with_name(path.name + ".pub")
    if beside.exists() or beside.is_symlink():
        raise UsageError(f"{beside}: is there already, and is not replaced")
    _write_new(path, pem, mode=0o600)
    _write_new(beside, f"# glovebox policy key {public.id}\n{public.text}\n".encode(), mode=0o644)
    return public


def _read_private(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as err:
        raise PolicyError(
            f"{path}: the key cannot be read: {err.strerror}",
            hint="name the private key itself, no link to it; glovebox policy keygen makes one",
        ) from err
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise PolicyError(
                f"{path}: expected a regular file, got {stat.filemode(found.st_mode)}",
                hint="name the private key itself; glovebox policy keygen makes one",
            )
        if found.st_mode & 0o077:
            raise PolicyError(
                f"{path}: expected a file that only its owner can read, "
                f"got mode {stat.S_IMODE(found.st_mode):04o}",
                hint=f"someone else may have read the key; if not: chmod 600 {path}",
            )
        if found.st_uid != os.geteuid():
            raise PolicyError(f"{path}: expected a key of yours, got one of uid {found.st_uid}")
        return os.read(descriptor, _MAX_KEY)
    finally:
        os.close(descriptor)


def _write_new(path: Path, data: bytes, *, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, mode)
    except FileExistsError as err:
        raise UsageError(f"{path}: is there already, and is not replaced") from err
    except OSError as err:
        raise UsageError(f"{path}: cannot be written: {err.strerror}") from err
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
