"""The explicit list of addresses that may be dialled."""

import pytest

from orchestrator.policy.addresses import (
    check_address,
    check_private,
    common_ranges,
    near_name,
)


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8", "203.0.113.10", "198.51.100.1", "192.0.2.1", "172.32.0.1", "172.15.255.255",
        "100.63.255.255", "100.128.0.1", "2001:db8::1", "2606:4700::1111", "3fff::1",
        "64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8",
    ],
)  # fmt: skip
def test_public_addresses_may_be_dialled(address):
    """Documentation ranges count as public, and so does a way to a public address."""
    assert check_address(address) is None


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("0.0.0.0", "unspecified"), ("0.1.2.3", "unspecified"), ("10.0.0.5", "private"),
        ("172.16.0.1", "private"), ("172.31.255.254", "private"), ("192.168.1.1", "private"),
        ("127.0.0.1", "loopback"), ("127.255.0.1", "loopback"), ("169.254.169.254", "metadata"),
        ("168.63.129.16", "metadata"), ("100.64.1.1", "carrier"), ("100.100.100.200", "metadata"),
        ("198.18.0.1", "benchmarks"), ("224.0.0.1", "multicast"), ("255.255.255.255", "broadcast"),
        ("192.0.0.192", "protocols"), ("192.88.99.1", "6to4"), ("::", "unspecified"),
        ("::1", "loopback"), ("fd00::1", "unique local"), ("fd00:ec2::254", "metadata"),
        ("fe80::1", "link-local"), ("fec0::1", "site-local"), ("ff02::1", "multicast"),
        ("100::1", "discard"), ("2001:2::1", "benchmarks"), ("64:ff9b:1::1", "translation"),
        ("::127.0.0.1", "public use"), ("::8.8.8.8", "public use"), ("5f00::1", "public use"),
        ("::ffff:0:127.0.0.1", "public use"), ("::ffff:10.0.0.1", "private"),
        ("64:ff9b::a9fe:a9fe", "NAT64 form of an address that is link-local"),
        ("2002:7f00:1::", "6to4 form of an address that is loopback"),
        ("2001:0:a00:1::", "Teredo form of an address that is private"),
        ("2001:0:808:808::5601:5601", "Teredo form of an address that is link-local"),
        ("2606:4700::5efe:a00:1", "ISATAP form of an address that is private"),
        ("2606:4700::200:5efe:a00:1", "ISATAP form of an address that is private"),
        ("fe80::1%eth0", "zone"), ("localhost", "not an address"), ("127.1", "not an address"),
    ],
)  # fmt: skip
def test_other_addresses_may_not_and_are_named(address, reason):
    """By what they are; an embedded address counts as well."""
    assert reason in (check_address(address) or "")


@pytest.mark.parametrize(
    ("address", "private", "allowed"),
    [
        ("10.1.2.3", ["10.1.0.0/16"], True), ("10.2.0.1", ["10.1.0.0/16"], False),
        ("::ffff:10.1.2.3", ["10.1.0.0/16"], True), ("127.0.0.1", ["127.0.0.1/32"], True),
        ("127.0.0.2", ["127.0.0.1/32"], False), ("127.0.0.1", ["0.0.0.0/0"], False),
        ("10.0.0.1", ["0.0.0.0/0"], False), ("fd12::1", ["fd12::/32"], True),
        ("169.254.169.254", ["169.254.0.0/16"], False), ("fe80::1", ["fe80::/10"], False),
        ("64:ff9b::a01:203", ["10.1.0.0/16"], False), ("2002:a01:203::", ["10.0.0.0/8"], False),
        ("fd00:ec2::254", ["fd00::/8"], False), ("100.100.100.200", ["100.64.0.0/10"], False),
        ("8.8.8.8", ["10.0.0.0/8"], True),
    ],
)  # fmt: skip
def test_a_rule_opens_what_it_names_and_no_more(address, private, allowed):
    """Never metadata or link-local, never by way of an embedded address."""
    assert (check_address(address, private) is None) == allowed


@pytest.mark.parametrize("cidr", ["10.0.0.0/8", "127.0.0.1/32", "fd12::/32", "100.64.0.0/16"])
def test_ranges_of_what_is_near_may_be_opened(cidr):
    """Each is known by its kind."""
    check_private(cidr)

    assert near_name(cidr)


@pytest.mark.parametrize(
    ("cidr", "reason"),
    [
        ("10.0.0.1/8", "expected a range"), ("x", "expected a range"),
        ("169.254.0.0/16", "no policy opens"), ("224.0.0.0/8", "no policy opens"),
        ("0.0.0.0/0", "within one of"), ("8.8.8.0/24", "within one of"), ("::/0", "within one of"),
    ],
)  # fmt: skip
def test_other_ranges_are_refused_with_what_was_expected(cidr, reason):
    """At load, not when something is dialled."""
    with pytest.raises(ValueError, match=reason):
        check_private(cidr)


def test_what_two_lists_have_in_common_is_the_narrower_of_each_pair():
    """So no list opens more than the other."""
    one, other = ["10.0.0.0/8", "fd00::/16"], ["10.1.0.0/16", "192.168.0.0/16", "fd00::/8"]

    assert common_ranges(one, other) == ("10.1.0.0/16", "fd00::/16")
    assert common_ranges(one, []) == ()
