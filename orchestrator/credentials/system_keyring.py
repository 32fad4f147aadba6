"""The operating system's keyring, where it has one that keeps secrets encrypted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from orchestrator.credentials.secret import Secret
from orchestrator.errors import CredentialError

SERVICE = "glovebox"
INDEX = ".names"
"""A keyring cannot be listed, so the names we put in stand in it too; no key's name has this form."""
TRUSTED = (
    "keyring.backends.SecretService",
    "keyring.backends.Windows",
    "keyring.backends.kwallet",
    "keyring.backends.libsecret",
    "keyring.backends.macOS",
)
"""Others may keep secrets in a plain file; the vault is better than those."""

Result = TypeVar("Result")


class SystemKeyring:
    """Secrets of ours in one keyring backend."""

    def __init__(self, backend: Any) -> None:
        """Use a backend of the ``keyring`` library."""
        self._backend = backend

    def get(self, name: str) -> Secret | None:
        """Return a secret or None; raises CredentialError where the keyring is locked."""
        value = self._do(lambda: self._backend.get_password(SERVICE, name))
        return Secret(value) if value else None

    def set(self, name: str, value: Secret) -> None:
        """Put a secret in."""
        self._do(lambda: self._backend.set_password(SERVICE, name, value.reveal()))
        self._index({*self.names(), name})

    def remove(self, name: str) -> bool:
        """Take a secret out; return whether it was there."""
        if self.get(name) is None:
            return False
        self._do(lambda: self._backend.delete_password(SERVICE, name))
        self._index({*self.names()} - {name})
        return True

    def names(self) -> Sequence[str]:
        """Return the names that were put in, sorted."""
        raw = self._do(lambda: self._backend.get_password(SERVICE, INDEX))
        try:
            found = json.loads(raw or "[]")
        except ValueError:
            return ()
        return sorted(name for name in found if isinstance(name, str))

    def _index(self, names: Iterable[str]) -> None:
        text = json.dumps(sorted(names))
        self._do(lambda: self._backend.set_password(SERVICE, INDEX, text))

    def _do(self, act: Callable[[], Result]) -> Result:
        try:
            return act()
        except Exception as error:  # noqa: BLE001 - backends raise whatever their bus raises
            raise CredentialError(
                f"the system's keyring failed: {type(error).__name__}",
                hint="is it locked? The vault works without it: glovebox keys set NAME --to vault",
            ) from None


def find_system_keyring() -> SystemKeyring | None:
    """Return the first trusted keyring that works here; None where there is none."""
    import keyring  # noqa: PLC0415 - it loads every backend there is
    import keyring.errors  # noqa: PLC0415 - the same

    try:
        backend = keyring.get_keyring()
    except (keyring.errors.KeyringError, RuntimeError):
        return None
    candidates = getattr(backend, "backends", None) or [backend]
    for candidate in candidates:
        if type(candidate).__module__.startswith(TRUSTED):
            return SystemKeyring(candidate)
    return None
