"""The credentials of one session's rules: read on the host, placeholders in the box."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from anyio import to_thread

from orchestrator.credentials.store import KeyStore
from orchestrator.egress.inject.injector import Injector
from orchestrator.egress.inject.placeholders import Placeholders
from orchestrator.harness.egress.secrets import HostSecrets
from orchestrator.schema.egress import InjectionTerms
from orchestrator.schema.terminal_text import escape_terminal


class Credentials:
    """Reads what rules name, and keeps it out of every text."""

    def __init__(
        self,
        keys: KeyStore,
        *,
        learn: Callable[[dict[str, str]], None],
        note: Callable[[str], None],
    ) -> None:
        """``learn`` hears every value, ``note`` what is missing, in safe text."""
        self._secrets = HostSecrets(keys, learn=learn)
        self._learn = learn
        self._note = note
        self._placeholders = Placeholders(self._secrets)
        self._told: set[str] = set()
        self.injector = Injector(self._placeholders)

    async def load(self, terms: Iterable[InjectionTerms]) -> None:
        """Read the secrets that are not known yet; those that are missing are told."""
        wanted = tuple(terms)
        references = [one.secret for one in wanted]
        for why in await to_thread.run_sync(self._secrets.load, references):
            self._note(escape_terminal(f"network rules: {why}; what needs it is refused"))
        # The box's words for them are made now, and with them what each consists of is known.
        self._placeholders.variables(wanted)
        for why in self._placeholders.unfit(wanted):
            if why not in self._told:
                self._told.add(why)
                self._note(escape_terminal(f"network rules: {why}; what needs it is refused"))
        self._learn({f"secret-{name}": text for name, text in self._placeholders.known().items()})

    def variables(self, terms: Iterable[InjectionTerms]) -> dict[str, str]:
        """Return what the box's variables hold: placeholders."""
        return self._placeholders.variables(terms)
