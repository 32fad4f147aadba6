"""One spelling for each host; what has two readings is refused."""

import pytest

from orchestrator.policy.hosts import (
    BAD_HOST,
    ODD_ADDRESS,
    HostRefused,
    canonical_host,
    is_address,
    special_name,
)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("API.Example.COM", "api.example.com"),
        ("api.example.com.", "api.example.com"),
        (b"api.example.com", "api.example.com"),
        ("localhost.", "localhost"),
        ("_dmarc.example.com", "_dmarc.example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example".encode(), "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("\u0430pi.example.com", "xn--pi-6kc.example.com"),
        ("xn--ls8h.example", "xn--ls8h.example"),
        ("203.0.113.7", "203.0.113.7"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:DB8::1]", "2001:db8::1"),
        ("2001:0db8:0:0::0001", "2001:db8::1"),
        ("::ffff:169.254.169.254", "169.254.169.254"),
        ("[::FFFF:7f00:1]", "127.0.0.1"),
        ("127.0.0.1.nip.example", "127.0.0.1.nip.example"),
    ],
)
def test_a_host_has_one_spelling(text, host):
    """Case, a trailing dot, brackets and long forms are spellings of the same host."""
    assert canonical_host(text) == host
    assert canonical_host(host) == host


@pytest.mark.parametrize(
    "text",
    [
        "", ".", "a..b", "a.b..", ".a.b", "a\0.b", "a\r\nX: y", "a b.example", "a\u200bb.example",
        "user@evil.example", "user:pw@evil.example", "a/b", "a?b", "a#b", "a\\b", "a,b", "a;b",
        "-a.example", "a-.example", "\uff41pi.example.com", "a\u3002example", "stra\u00dfe.example",
        "\u2024.example", "xn--abc.example", "xn--.example", "xn--a-ecp\u00e9.example",
        "a" * 64 + ".example", ".".join(["a" * 60] * 5), "a" * 5000, b"\xff.example", "\U0001f4a9.example", "\u2460.example",
    ],
)  # fmt: skip
def test_what_is_no_plain_name_is_refused(text):
    """Nothing is guessed, dropped or mapped."""
    with pytest.raises(HostRefused) as refused:
        canonical_host(text)

    assert refused.value.rule == BAD_HOST
    assert str(refused.value) == refused.value.reason


@pytest.mark.parametrize(
    "text",
    [
        "2130706433", "0x7f000001", "0x7f.1", "127.1", "127.0.1", "0177.0.0.1", "127.0.0.01",
        "127.0.0.1.", "1.2.3.4.5", "256.1.1.1", "0", "a.example.1", "a.0x1", "fe80::1%eth0",
        "fe80::1%25eth0", "[fe80::1%eth0]", "api%2eexample.com", "[::1", "::1]", "[127.0.0.1]",
        "[api.example.com]", "1::2::3", "host:443", ":443", "::ffff:127.1", "0x7f000001.", "0x",
    ],
)  # fmt: skip
def test_an_oddly_spelled_address_is_refused(text):
    """Readers differ on which address it is, if any."""
    with pytest.raises(HostRefused) as refused:
        canonical_host(text)

    assert refused.value.rule == ODD_ADDRESS


def test_addresses_are_told_from_names():
    """By their canonical form."""
    assert is_address("127.0.0.1")
    assert is_address("2001:db8::1")
    assert not is_address("1.example")


@pytest.mark.parametrize(
    ("host", "special"),
    [
        ("localhost", True), ("a.localhost", True), ("host.docker.internal", True),
        ("metadata.google.internal", True), ("printer.local", True), ("db", True),
        ("metadata", True), ("kubernetes.default.svc", True), ("router.lan", True),
        ("api.example.com", False), ("localhost.example.com", False), ("mylocal.example", False),
    ],
)  # fmt: skip
def test_names_of_what_is_near_are_known(host, special):
    """Those that resolvers answer with something on the machine or in its network."""
    assert (special_name(host) is not None) == special
