"""The vault's bytes: a readable header line, then what only the passphrase opens. Pure.

``{"glovebox-vault": 1, "kdf": "scrypt", "n": …, "r": …, "p": …, "salt": hex, "cipher":
"AES-256-GCM", "nonce": hex}`` LF ciphertext. The header line is authenticated as it stands, so
neither the version nor the parameters can be changed unnoticed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.errors import CredentialError

VERSION = 1
CIPHER = "AES-256-GCM"
SALT_BYTES, NONCE_BYTES, KEY_BYTES = 16, 12, 32
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


def seal(
    entries: Mapping[str, str], passphrase: str, *, random: Random, cost: Cost | None = None
) -> bytes:
    """Return the vault's bytes for entries; salt and nonce are new each time."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - slow to load

    chosen = cost or Cost()
    salt, nonce = random(SALT_BYTES), random(NONCE_BYTES)
    header = {
        "glovebox-vault": VERSION,
        "kdf": "scrypt",
        "n": chosen.n,
        "r": chosen.r,
        "p": chosen.p,
        "salt": salt.hex(),
        "cipher": CIPHER,
        "nonce": nonce.hex(),
    }
    line = json.dumps(header).encode() + b"\n"
    plain = json.dumps(dict(sorted(entries.items()))).encode()
    return line + AESGCM(_derive(passphrase, salt, chosen)).encrypt(nonce, plain, line)


def unseal(data: bytes, passphrase: str, *, source: str) -> dict[str, str]:
    """Return the entries; raises CredentialError for a wrong passphrase or a changed file."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - slow to load
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - the same

    line, salt, nonce, cost = _header(data, source)
    key = _derive(passphrase, salt, cost)
    try:
        plain = AESGCM(key).decrypt(nonce, data[len(line) :], line)
    except InvalidTag:
        raise CredentialError(
            f"{source}: wrong passphrase, or the file was changed",
            hint="the passphrase cannot be recovered; a vault can be removed and made anew",
        ) from None
    entries: dict[str, str] = json.loads(plain)
    return entries


def _header(data: bytes, source: str) -> tuple[bytes, bytes, bytes, Cost]:
    line, end, _ = data[:MAX_HEADER].partition(b"\n")
    try:
        header: dict[str, Any] = json.loads(line)
        version = header["glovebox-vault"]
        salt, nonce = bytes.fromhex(header["salt"]), bytes.fromhex(header["nonce"])
        cost = Cost(header["n"], header["r"], header["p"])
        kinds = (header["kdf"], header["cipher"])
    except (ValueError, KeyError, TypeError) as error:
        raise CredentialError(f"{source}: expected a vault, got something else") from error
    if version != VERSION or kinds != ("scrypt", CIPHER):
        raise CredentialError(f"{source}: expected vault version {VERSION}, got {version!r}")
    sane = (
        cost.n in _N_RANGE and cost.n & (cost.n - 1) == 0 and cost.r == 8 and cost.p in range(1, 5)
    )
    if not end or len(nonce) != NONCE_BYTES or len(salt) != SALT_BYTES or not sane:
        raise CredentialError(f"{source}: the vault's parameters are outside what is safe")
    return line + end, salt, nonce, cost


def _derive(passphrase: str, salt: bytes, cost: Cost) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt  # noqa: PLC0415 - slow to load

    kdf = Scrypt(salt=salt, length=KEY_BYTES, n=cost.n, r=cost.r, p=cost.p)
    return kdf.derive(passphrase.encode("utf-8", "surrogatepass"))
