"""Which names carry credentials; what is done about them is tested with foreign ones."""

import pytest

from orchestrator.egress.inject.credential_names import (
    is_credential_header,
    is_credential_parameter,
)


@pytest.mark.parametrize("vendor", ["", "x-", "x-acme-", "acme_"])
@pytest.mark.parametrize(
    "noun", ["token", "secret", "key", "credential", "authorization", "apikey"]
)
@pytest.mark.parametrize("end", ["", "-id", "-value", "-2"])
def test_name_is_known_by_its_noun(vendor, noun, end):
    """Nobody lists all vendors."""
    assert is_credential_header(f"{vendor}{noun}{end}".title())


@pytest.mark.parametrize(
    "name",
    [
        *("Sec-WebSocket-Key", "Idempotency-Key", "X-Request-Id", "X-Csrf-Token", "Cache-Key"),
        *("Upgrade-Insecure-Requests", "Accept", "X-Keyboard", "X-Authors", "Next-Page-Token"),
        *("X-Goog-Encryption-Key", "X-Ms-Partition-Key", "x-ms-documentdb-partitionkey"),
    ],
)
def test_name_of_something_else_is_none(name):
    assert not is_credential_header(name)


@pytest.mark.parametrize("name", ["key", "item_key", "keyId"])
def test_bare_key_of_a_query_is_told_by_its_value(name):
    assert is_credential_parameter(name, "k3y-0123456789abcdef")
    assert not is_credential_parameter(name, "orders")


@pytest.mark.parametrize("name", ["api_key", "apiKey", "app-key", "access.key", "clientSecret"])
def test_other_names_are_told_by_themselves(name):
    assert is_credential_parameter(name, "orders")
