"""The vault's bytes: a readable header line, then what only the passphrase opens. Pure.

``{"glovebox-vault": 2, "kdf": "scrypt", "n": …, "r": …, "p": …, "salt": hex, "cipher":
"AES-256-GCM", "nonce": hex, "check": hex}`` LF ciphertext, then the SHA-256 of all before it. The
header line is authenticated as it stands, so neither the version nor the parameters can be changed
unnoticed. The digest tells damage, ``check`` tells a wrong passphrase: it is the second half of
what scrypt gives, so it tells a guesser nothing that the ciphertext does not. Version 1 had
neither; it is still read.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.errors import CredentialError

VERSION = 2
CIPHER = "AES-256-GCM"
SALT_BYTES, NONCE_BYTES, KEY_BYTES, CHECK_BYTES, DIGEST_BYTES = 16, 12, 32, 16, 32
MAX_HEADER = 1024
_N_RANGE = range(2**14, 2**20 + 1)
"""Below it is too cheap to guess, above it a hostile file could eat the memory (1 GiB at r=8)."""

Random = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one guess of the passphrase costs: about 0.3 s and 128 MiB by default."""

    n: int = 2**17
    r: int = 8
    p: int = 1


@dataclass(frozen=True, slots=True)
class _Header:
    line: bytes
    version: int
    salt: bytes
    nonce: bytes
    cost: Cost
    check: bytes
    """Empty in version 1."""


def seal(
    entries: Mapping[str, str], passphrase: str, *, random: Random, cost: Cost | None = None
) -> bytes:
    """Return the vault's bytes for entries; salt and nonce are new each time."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - slow to load

    chosen = cost or Cost()
    salt, nonce = random(SALT_BYTES), random(NONCE_BYTES)
    key, check = _derive(passphrase, salt, chosen)
    header = {
        "glovebox-vault": VERSION,
        "kdf": "scrypt",
        "n": chosen.n,
        "r": chosen.r,
        "p": chosen.p,
        "salt": salt.hex(),
        "cipher": CIPHER,
        "nonce": nonce.hex(),
        "check": check.hex(),
    }
    line = json.dumps(header).encode() + b"\n"
    plain = json.dumps(dict(sorted(entries.items()))).encode()
    whole = line + AESGCM(key).encrypt(nonce, plain, line)
    return whole + hashlib.sha256(whole).digest()


def unseal(data: bytes, passphrase: str, *, source: str) -> dict[str, str]:
    """Return the entries; CredentialError tells a wrong passphrase from a damaged file."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - slow to load
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - the same

    header = _header(data, source)
    sealed = data[len(header.line) :]
    if header.version > 1:
        sealed = _undamaged(data, source)[len(header.line) :]
    key, check = _derive(passphrase, header.salt, header.cost)
    if header.version > 1 and not hmac.compare_digest(check, header.check):
        raise CredentialError(
            f"{source}: wrong passphrase",
            hint="it cannot be recovered; a vault can be removed and made anew",
        )
    try:
        plain = AESGCM(key).decrypt(header.nonce, sealed, header.line)
    except InvalidTag:
        raise CredentialError(
            f"{source}: the file was changed by something that does not know the passphrase"
            if header.version > 1
            else f"{source}: wrong passphrase, or the file was changed",
            hint="put a copy back that you trust, or remove the vault and make it anew",
        ) from None
    entries: dict[str, str] = json.loads(plain)
    return entries


def _undamaged(data: bytes, source: str) -> bytes:
    whole, digest = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
    if hashlib.sha256(whole).digest() != digest:
        raise CredentialError(
            f"{source}: the file is damaged: its digest does not fit its content",
            hint="the passphrase is not the matter; put a copy back, or remove the vault and make "
            "it anew",
        )
    return whole


def _header(data: bytes, source: str) -> _Header:
    line, end, _ = data[:MAX_HEADER].partition(b"\n")
    try:
        header: dict[str, Any] = json.loads(line)
        version = header["glovebox-vault"]
        salt, nonce = bytes.fromhex(header["salt"]), bytes.fromhex(header["nonce"])
        cost = Cost(header["n"], header["r"], header["p"])
        kinds = (header["kdf"], header["cipher"])
        check = bytes.fromhex(header.get("check", ""))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CredentialError(f"{source}: expected a vault, got something else") from error
    if version not in {1, VERSION} or kinds != ("scrypt", CIPHER):
        raise CredentialError(f"{source}: expected vault version {VERSION}, got {version!r}")
    sane = (
        cost.n in _N_RANGE and cost.n & (cost.n - 1) == 0 and cost.r == 8 and cost.p in range(1, 5)
    )
    sizes = (len(salt), len(nonce), len(check))
    expected = (SALT_BYTES, NONCE_BYTES, CHECK_BYTES if version > 1 else 0)
    if not end or sizes != expected or not sane:
        raise CredentialError(f"{source}: the vault's parameters are outside what is safe")
    return _Header(line + end, version, salt, nonce, cost, check)


def _derive(passphrase: str, salt: bytes, cost: Cost) -> tuple[bytes, bytes]:
    """Return the key and the check; the key is what version 1 derived alone."""
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt  # noqa: PLC0415 - slow to load

    kdf = Scrypt(salt=salt, length=KEY_BYTES + CHECK_BYTES, n=cost.n, r=cost.r, p=cost.p)
    derived = kdf.derive(passphrase.encode("utf-8", "surrogatepass"))
    return derived[:KEY_BYTES], derived[KEY_BYTES:]
