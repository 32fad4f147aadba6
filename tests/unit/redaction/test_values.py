"""One value at a time: is it the secret itself?"""

import pytest

from orchestrator.redaction.values import (
    Setting,
    is_masked,
    is_reference,
    is_secret_value,
    looks_random,
)

REFERENCES = [
    "${X}", "$(pass show x)", "$TOKEN", "$env:TOKEN", "<token>", "{token}", "{{ token }}", "%TOKEN%", "%s", "%(pw)s",
    "#{ENV['X']}", "@@TOKEN@@", "!vault", "*anchor", "--flag", "true", "None", "undefined", "required", "SecretStr",
    "env:TOKEN", "op://v/i/f", "vault:secret/x", "https://example.com/login", "changeme", "change-me", "your-api-key",
    "YOUR_TOKEN", "my-secret", "dummy", "example-key", "...", "AKIAIOSFODNN7EXAMPLE", "~/.ssh/id_rsa", "./certs/key.pem",
    "/etc/ssl/key.pem", "C:\\keys\\a", "config.api_key", "process.env.X", "self->password", "a::b", "get()",
    "[redacted:token:0123abcd]", "********", "xxxxxxxx", "........",
]  # fmt: skip
SECRETS = [
    "$up3r$ecret",
    "pa%ss1word",
    "S3cr3t!",
    "a.b2c3d4e5f6",
    "/AbC1dEf2GhI3jKl4MnO5pQr6StU7vWx8",
    "Tr0ub4dor&3",
]


@pytest.mark.parametrize("value", REFERENCES)
def test_reference_or_sample_is_no_secret(value: str) -> None:
    """What only points to a secret may be read."""
    assert is_reference(value)
    assert not is_secret_value(value, Setting("password", literal=True))


@pytest.mark.parametrize("value", SECRETS)
def test_literal_with_odd_signs_is_a_secret(value: str) -> None:
    """A dollar or a slash does not make a reference."""
    assert not is_reference(value)
    assert is_secret_value(value, Setting("password", literal=True))


@pytest.mark.parametrize(
    ("value", "masked"),
    [("", True), ("****", True), ("-----", True), ("xXxX", True), ("abc", False)],
)
def test_mask_is_one_or_two_signs_repeated(value: str, masked: bool) -> None:
    """Stars and dots hide nothing."""
    assert is_masked(value) == masked


@pytest.mark.parametrize(
    ("value", "random"),
    [
        ("a1b2c3d4", True),
        ("9af062d3eae87185a8367253f47d17d02553bfe3", True),
        ("3f2b8c1e-5d4a-4f6b-9a7c-0e1d2c3b4a59", True),
        ("qWeRtYuIoPaSdFgHjKlZ", True),
        ("short1", False),
        ("my-service-v2", False),
        ("tokenProviderFactory2", False),
        ("12345678901234", False),
        ("two words 123456", False),
        ("abcdefghijklmnopqrstuvwxyz", False),
    ],
)
def test_random_text_is_told_from_words(value: str, random: bool) -> None:
    """Machines mix letters and digits; people write words with a number behind."""
    assert looks_random(value) == random


@pytest.mark.parametrize(
    ("value", "literal", "secret"),
    [
        ("hunter2", False, True),
        ("correcthorse", True, True),
        ("correcthorse", False, False),
        ("abc", True, False),
        ("abcd", True, False),
        ("12345", True, False),
        ("123456", False, True),
        ("two words", True, False),
        ("user_password", True, False),
        ("password1", True, False),
        ("blue-green", True, False),
        ("form.labels.required", True, False),
        ("correct-horse-battery-staple", True, True),
        ("correct-horse-battery-staple", False, False),
        ("db-credentials.main", True, False),
    ],
)
def test_password_may_be_weak_but_no_name(value: str, literal: bool, secret: bool) -> None:
    """A word is a password only where code cannot stand."""
    assert is_secret_value(value, Setting("password", literal=literal)) == secret


def test_token_must_look_like_one() -> None:
    """A short word is no token, however it is written."""
    assert not is_secret_value("identifier", Setting("token", literal=True))
    assert is_secret_value("a1b2c3d4e5", Setting("token", literal=False))
