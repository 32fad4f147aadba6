import pytest

from orchestrator.credentials.secret import Secret
from orchestrator.credentials.store import KeyStore
from orchestrator.credentials.vault import Vault
from orchestrator.credentials.vault_file import Cost
from orchestrator.harness.egress.secrets import HostSecrets

REFERENCES = ("vault:acme", "env:TOKEN", "acme")


@pytest.fixture
def vault(tmp_path):
    return Vault(tmp_path / "vault", lambda *, new: "right horse", cost=Cost(n=2**14))  # noqa: ARG005


@pytest.fixture
def learned():
    return {}


@pytest.fixture
def secrets(vault, learned):
    keys = KeyStore(
        environ={"TOKEN": "value-of-a-variable"}, find_keyring=lambda: None, vault=vault
    )
    keys.set("acme", Secret("value-of-the-vault"), "vault")
    return HostSecrets(keys, learn=learned.update)


def test_value_is_found_where_the_rule_says(secrets):
    assert secrets.load(REFERENCES) == ()
    assert [secrets.value(name) for name in REFERENCES] == [
        "value-of-the-vault",
        "value-of-a-variable",
        "value-of-the-vault",
    ]


def test_what_is_read_is_kept_out_of_every_text(secrets, learned):
    secrets.load(REFERENCES)

    assert set(learned.values()) == {"value-of-the-vault", "value-of-a-variable"}


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("vault:other", "glovebox keys set other"),
        ("env:OTHER", "set the variable OTHER"),
        ("keyring:acme", "glovebox keys set acme"),
        ("cloud:acme", "no place is called 'cloud'"),
        ("NOT A NAME", "cannot be read"),
    ],
)
def test_missing_secret_says_what_to_do(secrets, reference, said):
    (missing,) = secrets.load([reference])

    assert said in missing
    with pytest.raises(LookupError, match="secret"):
        secrets.value(reference)


def test_secret_that_was_not_read_has_no_value(secrets):
    """Nothing is read while a request waits: a vault may ask for its passphrase."""
    with pytest.raises(LookupError, match="was not read yet"):
        secrets.value("vault:acme")


def test_secret_that_was_missing_is_there_once_it_is_set(secrets, vault):
    secrets.load(["vault:late"])
    vault.set("late", Secret("value-that-came-late"))

    assert secrets.load(["vault:late"]) == ()
    assert secrets.value("vault:late") == "value-that-came-late"
