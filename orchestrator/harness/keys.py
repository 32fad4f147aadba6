"""The key store of this machine, put together; and the one request that tries a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestrator.config.paths import Paths
from orchestrator.config.providers import ProviderSettings
from orchestrator.credentials.dumps import keep_out_of_dumps
from orchestrator.credentials.passphrase import ask_hidden, passphrase_from_file
from orchestrator.credentials.store import KeyStore
from orchestrator.credentials.system_keyring import find_system_keyring
from orchestrator.credentials.vault import AskPassphrase, Vault
from orchestrator.errors import CredentialError
from orchestrator.model.catalog import resolve
from orchestrator.model.factory import cleartext_warning, key_of
from orchestrator.model.sdk import check_key

VAULT = "vault"


def open_key_store(paths: Paths, environ: Mapping[str, str]) -> KeyStore:
    """Return the store; nothing is opened or asked before a key is looked for.

    This process leaves no core dump from then on.
    """
    keep_out_of_dumps()
    return KeyStore(
        environ=environ,
        find_keyring=find_system_keyring,
        vault=Vault(paths.keys / VAULT, passphrase_asker(environ)),
    )


def passphrase_asker(environ: Mapping[str, str]) -> AskPassphrase:
    """Return what gives the vault's passphrase: the file the environment names, else the terminal."""

    def ask(*, new: bool) -> str:
        given = passphrase_from_file(environ)
        if given is None:
            given = ask_hidden("Passphrase for the new vault: " if new else "Vault passphrase: ")
            if new and ask_hidden("Again: ") != given:
                raise CredentialError("vault: the two passphrases differ; nothing was stored")
        if not given:
            raise CredentialError("vault: expected a passphrase, got nothing")
        return given

    return ask


async def try_key(
    name: str,
    store: KeyStore,
    *,
    providers: Mapping[str, ProviderSettings],
    environ: Mapping[str, str],
    warn: Callable[[str], None],
) -> int:
    """Make one cheap request with a provider's key; return how many models it may use."""
    target = resolve(f"{name}/any", providers=providers, environ=environ)
    warning = cleartext_warning(target)
    if warning:
        warn(warning)
    return await check_key(target, key_of(target, store.get))
