"""The key that a request carries."""

import pytest

from orchestrator.egress.endpoint.caller_key import is_callers, presented_keys


def test_every_place_of_a_key_is_looked_at():
    """Headers of all APIs, and the query."""
    headers = [
        ("x-api-key", "a"),
        ("api-key", "b"),
        ("x-goog-api-key", "c"),
        ("authorization", "bearer d"),
        ("accept", "e"),
    ]

    assert presented_keys(headers, "key=f&alt=sse&key=g") == ("a", "b", "c", "d", "f", "g")


@pytest.mark.parametrize(
    ("keys", "fits"),
    [((), False), (("p",), True), (("p", "p"), True), (("p", "q"), False), (("pé",), False)],
)
def test_all_keys_must_be_the_placeholder(keys, fits):
    """No key is no key."""
    assert is_callers(keys, "p") is fits


def test_another_scheme_is_another_key():
    """Basic credentials are never the placeholder."""
    assert presented_keys([("authorization", "Basic p")], "") == ("",)
