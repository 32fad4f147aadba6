"""The encrypted vault on disk: written whole or not at all, readable by its owner alone."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from orchestrator.credentials.secret import Secret
from orchestrator.credentials.vault_file import Cost, seal, unseal
from orchestrator.errors import CredentialError
from orchestrator.named_file import read_named

_MAX_BYTES = 64 * 1024 * 1024
"""No vault of keys comes near."""
LEAST_CHARACTERS = 8
"""A shorter passphrase falls to guessing whatever the key derivation costs."""


class AskPassphrase(Protocol):
    """Gives the vault's passphrase."""

    def __call__(self, *, new: bool) -> str:
        """Return it; ``new`` is True where a vault is about to be made."""
        ...


class Vault:
    """Secrets by name behind one passphrase, asked for once, when first needed."""

    def __init__(self, path: Path, ask: AskPassphrase, *, cost: Cost | None = None) -> None:
        """Use the file at ``path``; it need not exist."""
        self._path = path
        self._ask = ask
        self._cost = cost
        self._passphrase: Secret | None = None
        self._entries: dict[str, Secret] | None = None

    @property
    def exists(self) -> bool:
        """Say whether there is a vault."""
        return self._path.exists()

    @property
    def unlocked(self) -> bool:
        """Say whether the vault was opened in this process."""
        return self._entries is not None

    def entries(self) -> Mapping[str, Secret]:
        """Return everything in the vault, unlocking it the first time; no vault is an empty one."""
        if self._entries is None:
            self._entries = self._read() if self.exists else {}
        return self._entries

    def set(self, name: str, value: Secret) -> None:
        """Put a secret in, making the vault where there is none."""
        with self._changing() as entries:
            entries[name] = value

    def remove(self, name: str) -> bool:
        """Take a secret out; return whether it was there."""
        if not self.exists:
            return False
        with self._changing() as entries:
            return entries.pop(name, None) is not None

    @contextlib.contextmanager
    def _changing(self) -> Iterator[dict[str, Secret]]:
        """Give the entries as they are on disk now, and write them back, one process at a time."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise self._failed("written", error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            entries = self._read() if self.exists else {}
            yield entries
            self._write(entries)
            self._entries = entries
        finally:
            os.close(lock)

    def _read(self) -> dict[str, Secret]:
        try:
            data = read_named(self._path, limit=_MAX_BYTES)
        except OSError as error:
            raise self._failed("read", error) from error
        if len(data) > _MAX_BYTES:
            raise CredentialError(f"{self._path}: expected at most {_MAX_BYTES} bytes, got more")
        try:
            entries = unseal(data, self._secret(new=False), source=str(self._path))
        except CredentialError:
            self._passphrase = None
            raise
        return {name: Secret(value) for name, value in entries.items()}

    def _write(self, entries: Mapping[str, Secret]) -> None:
        plain = {name: value.reveal() for name, value in entries.items()}
        passphrase = self._secret(new=not self.exists)
        data = seal(plain, passphrase, random=secrets.token_bytes, cost=self._cost)
        try:
            write_private(self._path, data)
        except OSError as error:
            raise self._failed("written", error) from error

    def _secret(self, *, new: bool) -> str:
        """Return the passphrase, asking once."""
        if self._passphrase is None:
            given = self._ask(new=new)
            if new and len(given) < LEAST_CHARACTERS:
                raise CredentialError(
                    f"vault: expected a passphrase of at least {LEAST_CHARACTERS} characters"
                )
            self._passphrase = Secret(given, keep_space=True)
        return self._passphrase.reveal()

    def _failed(self, verb: str, error: OSError) -> CredentialError:
        return CredentialError(
            f"{self._path}: the vault cannot be {verb}: {error.strerror}",
            hint=f"see: ls -ld {self._path}",
        )


def write_private(path: Path, data: bytes) -> None:
    """Replace a file by ``data``, mode 0600, so that a crash leaves the old one or the new one."""
    spare = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        spare.replace(path)
    except BaseException:
        spare.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
