"""Keys by name, from the environment, then the system's keyring, then the vault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from orchestrator.credentials.names import checked_name, name_of, variable_of
from orchestrator.credentials.secret import Secret
from orchestrator.credentials.system_keyring import SystemKeyring
from orchestrator.credentials.vault import Vault
from orchestrator.errors import CredentialError

Place = Literal["environment", "keyring", "vault"]


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """One key as a list shows it."""

    name: str
    place: Place
    fingerprint: str


class KeyStore:
    """Finds, keeps and forgets keys. Slow places are opened only when a faster one has no answer."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        find_keyring: Callable[[], SystemKeyring | None],
        vault: Vault,
    ) -> None:
        """Look in these places; ``find_keyring`` is called at most once."""
        self._environ = environ
        self._find_keyring = find_keyring
        self._found: SystemKeyring | None = None
        self._searched = False
        self._vault = vault
        self._given: list[Secret] = []
        """Every value that was read, those that were replaced since too."""

    def get(self, name: str) -> Secret | None:
        """Return a key or None; raises CredentialError where a place that may have it stays shut."""
        checked_name(name)
        value = self._in_environment(name)
        shut: CredentialError | None = None
        if value is None:
            try:
                value = self._in_keyring(name)
            except CredentialError as error:
                # The vault may have it; only if it has not is a locked keyring the answer.
                shut = error
        if value is None:
            value = self._vault.entries().get(name)
        if value is None and shut is not None:
            raise shut
        if value is not None:
            self._remember(value)
        return value

    def get_from(self, place: Place, name: str) -> Secret | None:
        """Return what one place alone holds; in the environment ``name`` is a variable's own."""
        if place == "environment":
            value = Secret(self._environ.get(name, "")) or None
        elif place == "keyring":
            value = self._in_keyring(checked_name(name))
        else:
            value = self._vault.entries().get(checked_name(name))
        if value is not None:
            self._remember(value)
        return value

    def set(self, name: str, value: Secret, to: Literal["keyring", "vault"] | None) -> Place:
        """Keep a key and say where; None prefers the keyring."""
        checked_name(name)
        if not value:
            raise CredentialError(f"{name}: expected a value, got nothing")
        keyring = self._keyring() if to != "vault" else None
        if to == "keyring" and keyring is None:
            raise CredentialError(
                "this system has no keyring that keeps secrets encrypted",
                hint=f"glovebox keys set {name} --to vault",
            )
        self._remember(value)
        if keyring is not None:
            keyring.set(name, value)
            return "keyring"
        self._vault.set(name, value)
        return "vault"

    def remove(self, name: str) -> tuple[Place, ...]:
        """Forget a key in keyring and vault; return where it was."""
        checked_name(name)
        places: list[Place] = []
        keyring = self._keyring()
        if keyring is not None and keyring.remove(name):
            places.append("keyring")
        if self._vault.remove(name):
            places.append("vault")
        return tuple(places)

    def variable(self, name: str) -> str | None:
        """Return the environment variable that holds the key now, and so wins over all else."""
        return variable_of(name) if self._in_environment(name) else None

    def entries(self) -> tuple[KeyEntry, ...]:
        """Return every key there is; the first of a name is the one that is used."""
        return tuple(
            KeyEntry(name, place, value.fingerprint())
            for name, place, value in sorted(self._all(), key=lambda found: found[0])
        )

    def known_values(self) -> frozenset[str]:
        """Return every value this process could leak: keys in the environment and keys it has read."""
        values = [value for _, value in self._from_environment()]
        values.extend(self._given)
        values.extend(self._vault.entries().values() if self._vault.unlocked else ())
        return frozenset(value.reveal() for value in values if value)

    def change_passphrase(self, passphrase: Secret) -> None:
        """Seal the vault by another passphrase."""
        self._vault.change_passphrase(passphrase)

    def _remember(self, value: Secret) -> None:
        if value not in self._given:
            self._given.append(value)

    def _all(self) -> Iterator[tuple[str, Place, Secret]]:
        for name, value in self._from_environment():
            yield name, "environment", value
        keyring = self._keyring()
        for name in keyring.names() if keyring else ():
            found = keyring.get(name) if keyring else None
            if found is not None:
                yield name, "keyring", found
        for name, value in self._vault.entries().items():
            yield name, "vault", value

    def _from_environment(self) -> Iterator[tuple[str, Secret]]:
        for variable, value in self._environ.items():
            name = name_of(variable)
            if name is not None and value.strip():
                yield name, Secret(value)

    def _in_environment(self, name: str) -> Secret | None:
        value = Secret(self._environ.get(variable_of(name), ""))
        return value or None

    def _in_keyring(self, name: str) -> Secret | None:
        keyring = self._keyring()
        return keyring.get(name) if keyring else None

    def _keyring(self) -> SystemKeyring | None:
        if not self._searched:
            self._searched, self._found = True, self._find_keyring()
        return self._found
