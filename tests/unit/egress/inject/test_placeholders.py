import re

import pytest

from orchestrator.egress.inject.placeholders import (
    InjectionRefused,
    Placeholders,
    placeholder_for,
)
from orchestrator.redaction.shapes import find_shapes
from orchestrator.schema.egress import InjectionTerms
from tests.support.secrets import FixedSecrets

GITHUB = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5"
PAIR = "AKIA2222333344445555:" + "w" * 20 + "/" + "x" * 19


def terms(secret: str, *, form: str = "header", variables: tuple[str, ...] = ()) -> InjectionTerms:
    return InjectionTerms(f"session/{secret}", secret, form, "X-Key", variables=variables)


@pytest.mark.parametrize(
    ("secret", "pattern"),
    [
        ("hunter2-and-more", r"gbx_[A-Za-z0-9]{12}"),
        ("q" * 300, r"gbx_[A-Za-z0-9]{296}"),
        ("12345678", r"gbx_[A-Za-z0-9]{4}"),
        (GITHUB, r"ghp_gbx[A-Za-z0-9]{33}"),
        ("glpat-abcdefghij0123456789", r"glpat-gbx[A-Za-z0-9]{17}"),
        ("dop_v1_" + "0a1b" * 16, r"dop_v1_[0-9a-f]{64}"),
        ("AKIA2222333344445555", r"AKIAGBX[A-Z0-9]{13}"),
    ],
)
def test_placeholder_is_like_its_secret(secret, pattern):
    """As long, and with the beginning that programs check; but random."""
    placeholder = placeholder_for(secret)

    assert re.fullmatch(pattern, placeholder)
    assert len(placeholder) == len(secret)
    assert placeholder != placeholder_for(secret)
    assert bool(list(find_shapes(placeholder))) == bool(list(find_shapes(secret)))


def test_placeholder_is_stable_within_a_session_and_differs_between_two():
    """A program may keep it; another session's is of no use."""
    secrets = FixedSecrets(github=GITHUB)
    book, other = Placeholders(secrets), Placeholders(secrets)
    first = book.variables([terms("github", variables=("GH_TOKEN", "GITHUB_TOKEN"))])

    assert first["GH_TOKEN"] == first["GITHUB_TOKEN"] == book.credential("github").placeholder
    assert book.credential("github").value == GITHUB
    assert other.credential("github").placeholder != first["GH_TOKEN"]


def test_variables_exist_where_the_secret_does_not():
    """A box starts without its key; the request that needs it says what is missing."""
    secrets = FixedSecrets()
    book = Placeholders(secrets)
    value = book.variables([terms("github", variables=("GH_TOKEN",))])["GH_TOKEN"]
    with pytest.raises(InjectionRefused, match="no key named github"):
        book.credential("github")
    secrets.values["github"] = GITHUB

    assert re.fullmatch(r"gbx_[A-Za-z0-9]{36}", value)
    assert book.credential("github").placeholder == value


def test_aws_pair_gets_a_pair():
    """In the variables that its tools read, without a session token to sign with."""
    book = Placeholders(FixedSecrets(aws=PAIR + ":" + "t" * 50))
    found = book.variables([terms("aws", form="sigv4")])
    keys = book.aws("aws")

    assert list(found) == ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
    assert tuple(found.values()) == (keys.box.id, keys.box.key)
    assert re.fullmatch("AKIAGBX[A-Z2-7]{13}", keys.box.id)
    assert len(keys.box.key) == 40
    assert (keys.real.id, keys.real.token) == ("AKIA2222333344445555", "t" * 50)
    assert set(book.known().values()) == {keys.real.key, keys.real.token}


def test_aws_pair_may_have_variables_of_its_own():
    book = Placeholders(FixedSecrets(aws=PAIR))
    found = book.variables([terms("aws", form="sigv4", variables=("S3_ID", "S3_KEY"))])

    assert found == {"S3_ID": book.aws("aws").box.id, "S3_KEY": book.aws("aws").box.key}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("1234567", "shorter than 8"),
        ("two\nlines", "printable ASCII"),
        ("pässwörter", "printable ASCII"),
    ],
)
def test_secret_that_cannot_be_kept_safe_is_not_sent(value, words):
    """What could not be found again in an answer, or no header can carry, stays here."""
    with pytest.raises(InjectionRefused, match=words):
        Placeholders(FixedSecrets(odd=value)).credential("odd")


def test_secret_that_is_no_pair_signs_nothing():
    with pytest.raises(InjectionRefused, match="no pair of keys"):
        Placeholders(FixedSecrets(odd="just-one-secret")).aws("odd")


def test_value_is_read_once_until_it_is_forgotten():
    """A slow keyring is not asked at each request; a changed key is picked up on demand."""
    secrets = FixedSecrets(github=GITHUB)
    book = Placeholders(secrets)
    first = book.credential("github")
    book.credential("github")
    assert secrets.asked == ["github"]
    assert book.known() == {"github": GITHUB}
    secrets.values["github"] = GITHUB[::-1]
    book.forget()

    assert book.credential("github").value == GITHUB[::-1]
    assert book.credential("github").placeholder == first.placeholder


def test_credential_does_not_print_its_value():
    book = Placeholders(FixedSecrets(github=GITHUB, aws=PAIR))

    assert GITHUB not in repr(book.credential("github"))
    assert "xxxx" not in repr(book.aws("aws"))
