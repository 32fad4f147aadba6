import pytest

from orchestrator.egress.tls.hello import ClientHello
from orchestrator.egress.tls.names import NameMismatch, require_name


def hello(name: str | None, *, encrypted: bool = False) -> ClientHello:
    return ClientHello(name, ("http/1.1",), encrypted, (0x0304,))


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("api.example.com", "api.example.com"),
        ("API.example.COM", "api.example.com"),
        ("api.example.com.", "api.example.com"),
        (None, "203.0.113.7"),
        (None, "2001:db8::7"),
    ],
)
def test_same_name_is_agreed(name, host):
    """Case and a last dot make no other name; an address is never in a ClientHello."""
    require_name(hello(name), host)


@pytest.mark.parametrize(
    ("said", "host", "words"),
    [
        (hello("drop.example.net"), "api.example.com", "drop.example.net"),
        (hello("api.example.com.drop.test"), "api.example.com", "drop.test"),
        (hello("xapi.example.com"), "api.example.com", "xapi"),
        (hello(None), "api.example.com", "names no server"),
        (hello("api.example.com"), "203.0.113.7", "api.example.com"),
        (hello("api.example.com", encrypted=True), "api.example.com", "ECH"),
        (hello("api.example.com.."), "api.example.com", r"example\.com\.\."),
    ],
)
def test_other_missing_or_hidden_name_is_refused(said, host, words):
    """A server is named once, in the open, and it is the one that was asked for."""
    with pytest.raises(NameMismatch, match=words):
        require_name(said, host)
