import json

import pytest

from orchestrator.credentials.secret import Secret
from orchestrator.credentials.system_keyring import INDEX, SERVICE, SystemKeyring
from orchestrator.errors import CredentialError


class Backend:
    """A keyring in memory, with the library's three methods."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, name: str) -> str | None:
        self._check()
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, value: str) -> None:
        self._check()
        self.kept[service, name] = value

    def delete_password(self, service: str, name: str) -> None:
        self._check()
        del self.kept[service, name]

    def _check(self) -> None:
        if self.locked:
            raise RuntimeError("bus says: sk-secret")


def test_secret_is_kept_listed_and_removed() -> None:
    """A keyring cannot be listed, so ours keeps its names."""
    keyring = SystemKeyring(Backend())
    assert keyring.names() == []
    keyring.set("b", Secret("2"))
    keyring.set("a", Secret("1"))
    assert keyring.names() == ["a", "b"]
    assert keyring.get("a") == Secret("1")
    assert keyring.remove("a")
    assert not keyring.remove("a")
    assert keyring.names() == ["b"]
    assert keyring.get("a") is None


def test_everything_is_under_one_service() -> None:
    """Other programs' secrets are out of reach."""
    backend = Backend()
    SystemKeyring(backend).set("a", Secret("1"))
    assert {service for service, _ in backend.kept} == {SERVICE}
    assert json.loads(backend.kept[SERVICE, INDEX]) == ["a"]


def test_locked_keyring_is_told_without_its_words() -> None:
    """Whatever a backend raises may repeat what it was given."""
    backend = Backend()
    backend.locked = True
    with pytest.raises(CredentialError, match="keyring failed") as caught:
        SystemKeyring(backend).get("a")
    assert "sk-secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_damaged_index_is_an_empty_one() -> None:
    """Another program's mistake loses a list, not a key."""
    backend = Backend()
    keyring = SystemKeyring(backend)
    keyring.set("a", Secret("1"))
    backend.kept[SERVICE, INDEX] = "not json"
    assert list(keyring.names()) == []
    assert keyring.get("a") == Secret("1")
