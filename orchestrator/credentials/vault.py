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
        self._seen: tuple[int, ...] | None = None
        """Which state of the file the entries are of."""

    @property
    def exists(self) -> bool:
        """Say whether there is a vault."""
        return self._path.exists()

    @property
    def unlocked(self) -> bool:
        """Say whether the vault was opened in this process."""
        return self._entries is not None

    def entries(self) -> Mapping[str, Secret]:
        """Return everything in the vault, unlocking it the first time; no vault is an empty one.

        A value that another process changed meanwhile is the one returned.
        """
        state = self._state()
        if self._entries is None or state != self._seen:
            self._entries = self._read() if state is not None else {}
            self._seen = state
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

    def change_passphrase(self, passphrase: Secret) -> None:
        """Seal the vault by another passphrase; the one it has now is asked for."""
        if not self.exists:
            raise CredentialError(
                f"{self._path}: there is no vault yet",
                hint="glovebox keys set NAME --to vault makes one",
            )
        _long_enough(passphrase.reveal())
        with self._changing():
            self._passphrase = passphrase

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
            self._entries, self._seen = entries, self._state()
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
            if new:
                _long_enough(given)
            self._passphrase = Secret(given, keep_space=True)
        return self._passphrase.reveal()

    def _state(self) -> tuple[int, ...] | None:
        """Return what tells one state of the file from another; None where there is no file."""
        try:
            facts = self._path.stat()
        except FileNotFoundError:
            return None
        return facts.st_ino, facts.st_mtime_ns, facts.st_size

    def _failed(self, verb: str, error: OSError) -> CredentialError:
        return CredentialError(
            f"{self._path}: the vault cannot be {verb}: {error.strerror}",
            hint=f"see: ls -ld {self._path}",
        )


def _long_enough(passphrase: str) -> None:
    if len(passphrase) < LEAST_CHARACTERS:
        raise CredentialError(
            f"vault: expected a passphrase of at least {LEAST_CHARACTERS} characters"
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
