import anyio
import pytest

from orchestrator.credentials.store import KeyStore
from orchestrator.credentials.vault import Vault
from orchestrator.harness.egress.credentials import Credentials
from orchestrator.schema.egress import InjectionTerms

TOKEN = InjectionTerms("r", "env:TOKEN", "header", "Authorization", variables=("API_TOKEN",))
PAIR = InjectionTerms("r", "env:PAIR", "sigv4", "eu-1/s3")
GONE = InjectionTerms("r", "env:GONE", "header", "Authorization", variables=("GONE",))
SHORT = InjectionTerms("r", "env:SHORT", "header", "Authorization")
LINES = InjectionTerms("r", "env:LINES", "header", "X-Key")
NO_PAIR = InjectionTerms("r", "env:TOKEN", "sigv4", "eu-1/s3")
ENVIRON = {"SHORT": "abc", "LINES": "first-line-of-it\nsecond-line-of-it"} | {
    "TOKEN": "value-of-the-token",
    "PAIR": "AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMIK7MDENGbPx",
}


def loaded(tmp_path, *terms):
    learned, notes = {}, []
    keys = KeyStore(
        environ=ENVIRON,
        find_keyring=lambda: None,
        vault=Vault(tmp_path / "vault", lambda *, new: "x"),  # noqa: ARG005
    )
    credentials = Credentials(keys, learn=learned.update, note=notes.append)
    anyio.run(credentials.load, terms)
    return credentials.variables(terms), learned, notes


def test_box_holds_placeholders_alone(tmp_path):
    variables, learned, notes = loaded(tmp_path, TOKEN)

    assert set(variables) == {"API_TOKEN"}
    assert variables["API_TOKEN"] != "value-of-the-token"
    assert "value-of-the-token" in learned.values()
    assert notes == []


def test_parts_of_a_pair_are_kept_out_of_texts_too(tmp_path):
    variables, learned, _ = loaded(tmp_path, PAIR)

    assert "wJalrXUtnFEMIK7MDENGbPx" in learned.values()
    assert "wJalrXUtnFEMIK7MDENGbPx" not in variables.values()


def test_missing_secret_is_told_and_the_variable_is_there(tmp_path):
    """Programs that want a key find one; what they send with it is refused."""
    variables, _, notes = loaded(tmp_path, GONE)

    assert variables["GONE"]
    (note,) = notes
    assert "there is no secret 'env:GONE': set the variable GONE" in note
    assert "what needs it is refused" in note


@pytest.mark.parametrize(
    ("terms", "why"),
    [
        (SHORT, "the secret env:SHORT is shorter than"),
        (LINES, "the secret env:LINES holds more than printable ASCII"),
        (NO_PAIR, "the secret env:TOKEN is no pair of keys"),
    ],
)
def test_secret_that_cannot_be_sent_is_told_at_the_start(terms, why, tmp_path):
    """Once, and not only with the first request that it is refused to."""
    _, _, notes = loaded(tmp_path, terms, terms)
    (note,) = notes

    assert why in note
    assert "what needs it is refused" in note
    assert ENVIRON[terms.secret.removeprefix("env:")] not in note
