"""Values of the secrets that rules put into requests: read once, kept in this process alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from orchestrator.credentials.store import KeyStore, Place
from orchestrator.errors import GloveboxError

PLACES: dict[str, Place] = {"env": "environment", "keyring": "keyring", "vault": "vault"}


class HostSecrets:
    """One session's. What is read is told to ``learn``, so that it is kept out of every text."""

    def __init__(self, keys: KeyStore, *, learn: Callable[[dict[str, str]], None]) -> None:
        """Look in ``keys``; nothing is read yet."""
        self._keys = keys
        self._learn = learn
        self._values: dict[str, str] = {}
        self._missing: dict[str, str] = {}

    def load(self, references: Iterable[str]) -> tuple[str, ...]:
        """Read values, which may block or ask for a passphrase; return what is missing, and why.

        Those that are known already are not read again.
        """
        missing = []
        for reference in dict.fromkeys(references):
            if reference in self._values:
                continue
            try:
                self._values[reference] = self._read(reference)
                self._missing.pop(reference, None)
            except LookupError as error:
                self._missing[reference] = str(error.args[0])
                missing.append(self._missing[reference])
        self._learn({f"secret-{name} whole": value for name, value in self._values.items()})
        return tuple(missing)

    def value(self, reference: str) -> str:
        """Return a value that was loaded; LookupError, with a text that is safe to show."""
        if reference not in self._values:
            why = self._missing.get(reference)
            raise LookupError(why or f"the secret {reference!r} was not read yet")
        return self._values[reference]

    def _read(self, reference: str) -> str:
        place, _, name = reference.rpartition(":")
        try:
            found = self._keys.get_from(PLACES[place], name) if place else self._keys.get(name)
        except (GloveboxError, KeyError) as error:
            why = (
                error.message
                if isinstance(error, GloveboxError)
                else f"no place is called {place!r}"
            )
            raise LookupError(f"the secret {reference!r} cannot be read: {why}") from error
        if not found:
            how = f"set the variable {name}" if place == "env" else f"glovebox keys set {name}"
            raise LookupError(f"there is no secret {reference!r}: {how}")
        return found.reveal()
