from pathlib import Path

import pytest

from orchestrator.credentials.secret import Secret
from orchestrator.credentials.store import KeyEntry, KeyStore
from orchestrator.credentials.system_keyring import SystemKeyring
from orchestrator.credentials.vault import Vault
from orchestrator.credentials.vault_file import Cost
from orchestrator.errors import CredentialError, UsageError
from tests.unit.credentials.test_system_keyring import Backend


class Places:
    """A store with its three places in reach."""

    def __init__(self, folder: Path, *, keyring: bool = True) -> None:
        self.environ: dict[str, str] = {}
        self.backend = Backend()
        self.searched = 0
        self.asked = 0
        self._has_keyring = keyring
        self.vault = Vault(folder / "vault", self._ask, cost=Cost(n=2**14))
        self.store = KeyStore(environ=self.environ, find_keyring=self._find, vault=self.vault)

    def _find(self) -> SystemKeyring | None:
        self.searched += 1
        return SystemKeyring(self.backend) if self._has_keyring else None

    def _ask(self, *, new: bool) -> str:  # noqa: ARG002 - the form of AskPassphrase
        self.asked += 1
        return "right horse"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def value(secret: Secret | None) -> str | None:
    return secret.reveal() if secret else None


def test_environment_wins_over_keyring_and_that_over_vault(places: Places) -> None:
    """The nearest place is used."""
    places.store.set("openai", Secret("from-vault"), "vault")
    assert value(places.store.get("openai")) == "from-vault"
    places.store.set("openai", Secret("from-keyring"), "keyring")
    assert value(places.store.get("openai")) == "from-keyring"
    places.environ["OPENAI_API_KEY"] = "from-environment"
    assert value(places.store.get("openai")) == "from-environment"


def test_slow_places_stay_shut_when_a_fast_one_answers(places: Places) -> None:
    """A key in the environment opens no keyring and asks no passphrase."""
    places.environ["OPENAI_API_KEY"] = "x"
    places.store.get("openai")
    assert (places.searched, places.asked) == (0, 0)


def test_missing_key_is_none_and_asks_nothing(places: Places) -> None:
    """Without a vault there is no passphrase to ask for."""
    assert places.store.get("openai") is None
    assert places.asked == 0


def test_empty_variable_is_no_key(places: Places) -> None:
    """An empty variable is how shells unset one."""
    places.environ["OPENAI_API_KEY"] = " "
    assert places.store.get("openai") is None
    assert places.store.entries() == ()


def test_locked_keyring_is_told_only_where_the_vault_has_no_answer(places: Places) -> None:
    """Neither is a key in the vault out of reach, nor a locked keyring an empty one."""
    places.store.set("openai", Secret("from-vault"), "vault")
    places.backend.locked = True
    assert value(places.store.get("openai")) == "from-vault"
    with pytest.raises(CredentialError, match="keyring"):
        places.store.get("anthropic")


def test_key_goes_to_the_keyring_or_else_to_the_vault(tmp_path: Path) -> None:
    """Both are encrypted; the store says which it was."""
    assert Places(tmp_path / "a").store.set("x", Secret("1"), None) == "keyring"
    without = Places(tmp_path / "b", keyring=False)
    assert without.store.set("x", Secret("1"), None) == "vault"
    with pytest.raises(CredentialError, match="no keyring"):
        without.store.set("x", Secret("1"), "keyring")


def test_failed_set_is_not_kept_elsewhere(places: Places) -> None:
    """A locked keyring is told, not passed over."""
    places.backend.locked = True
    with pytest.raises(CredentialError):
        places.store.set("x", Secret("1"), None)
    assert not places.vault.exists


def test_empty_value_is_refused(places: Places) -> None:
    """Pressing Enter at the prompt stores nothing."""
    with pytest.raises(CredentialError):
        places.store.set("x", Secret(" \n"), None)
    assert places.store.entries() == ()


def test_list_shows_fingerprints_in_the_order_of_use(places: Places) -> None:
    """The first of a name is the one that is used."""
    places.store.set("b", Secret("1"), "vault")
    places.store.set("b", Secret("2"), "keyring")
    places.store.set("a", Secret("3"), "vault")
    places.environ |= {"B_API_KEY": "4", "HOME": "/root", "OTHER": "x"}
    assert places.store.entries() == (
        KeyEntry("a", "vault", Secret("3").fingerprint()),
        KeyEntry("b", "environment", Secret("4").fingerprint()),
        KeyEntry("b", "keyring", Secret("2").fingerprint()),
        KeyEntry("b", "vault", Secret("1").fingerprint()),
    )


def test_removed_key_is_gone_from_both(places: Places) -> None:
    """A forgotten copy would go on being used."""
    places.store.set("x", Secret("1"), "vault")
    places.store.set("x", Secret("2"), "keyring")
    assert places.store.remove("x") == ("keyring", "vault")
    assert places.store.get("x") is None
    assert places.store.remove("x") == ()


def test_known_values_are_all_this_process_has_seen(places: Places) -> None:
    """Redaction gets every value that could leak from here."""
    places.environ |= {"OPENAI_API_KEY": "env-1", "PATH": "/bin"}
    places.store.set("x", Secret("kept-2"), "keyring")
    assert places.store.known_values() == {"env-1", "kept-2"}
    places.vault.set("y", Secret("vault-3"))
    places.vault.set("z", Secret("vault-4"))
    places.store.get("y")
    assert places.store.known_values() == {"env-1", "kept-2", "vault-3", "vault-4"}


def test_variable_that_wins_is_named(places: Places) -> None:
    """Who sets a key learns why it is not used."""
    assert places.store.variable("my-proxy") is None
    places.environ["MY_PROXY_API_KEY"] = "x"
    assert places.store.variable("my-proxy") == "MY_PROXY_API_KEY"


def test_what_is_no_name_is_refused(places: Places) -> None:
    """Also where no command line was in between."""
    for act in (places.store.get, places.store.remove):
        with pytest.raises(UsageError):
            act("../../etc")


def test_one_place_alone_can_be_asked(places):
    """What a rule says of one place is not looked for in another."""
    places.store.set("acme", Secret("of-the-keyring-1"), "keyring")
    places.store.set("acme", Secret("of-the-vault-22"), "vault")
    places.environ["TOKEN"] = "of-a-variable-3"

    assert value(places.store.get_from("keyring", "acme")) == "of-the-keyring-1"
    assert value(places.store.get_from("vault", "acme")) == "of-the-vault-22"
    assert value(places.store.get_from("environment", "TOKEN")) == "of-a-variable-3"
    assert places.store.get_from("environment", "ACME_API_KEY") is None
    assert places.store.get_from("vault", "other") is None
    assert "of-a-variable-3" in places.store.known_values()
