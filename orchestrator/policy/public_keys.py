"""Public keys that may vouch for policies: one key's text, and files that pin some. Pure."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from orchestrator.errors import PolicyError
from orchestrator.schema.ids import digest_of

MAX_KEYS = 64 * 1024
"""Bytes of a file of pinned keys."""
SCHEME = "ed25519:"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """Half of a key that anyone may have."""

    text: str
    """``ed25519:`` and 32 bytes in base64."""

    @property
    def raw(self) -> bytes:
        """The 32 bytes."""
        return base64.b64decode(self.text.removeprefix(SCHEME))

    @property
    def id(self) -> str:
        """Sixteen hex digits of the bytes' SHA-256."""
        return digest_of(self.raw)[7:23]

    @classmethod
    def parse(cls, text: str) -> PublicKey:
        """Return the key of its text; ValueError where it is none."""
        if not text.startswith(SCHEME):
            raise ValueError(f"expected {SCHEME} and 32 bytes in base64, got {text[:40]!r}")
        try:
            raw = base64.b64decode(text.removeprefix(SCHEME), validate=True)
        except binascii.Error as err:
            raise ValueError(f"expected base64 after {SCHEME}: {err}") from err
        if len(raw) != 32:
            raise ValueError(f"expected 32 bytes in base64 after {SCHEME}, got {len(raw)}")
        return cls(SCHEME + base64.b64encode(raw).decode())


def parse_keys(data: bytes, *, file: str) -> tuple[PublicKey, ...]:
    """Return the pinned keys, one a line; ``#`` begins a comment. At least one, else PolicyError."""
    keys = []
    for number, line in enumerate(data.decode("ascii", "replace").splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            keys.append(PublicKey.parse(text))
        except ValueError as err:
            raise PolicyError(
                f"{file}:{number}: this is no public key: {err}",
                hint="put the .pub file there that `glovebox policy keygen` made",
            ) from err
    if not keys:
        raise PolicyError(
            f"{file}:1: expected at least one public key, got none",
            hint="put the .pub file there that `glovebox policy keygen` made",
        )
    return tuple(keys)
