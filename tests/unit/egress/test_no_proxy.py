import pytest

from orchestrator.egress.no_proxy import NoProxy

PLACES = NoProxy(("git.corp", "*.lab.corp", "10.0.0.0/8", "fd00::/8", "192.0.2.1/32"))


@pytest.mark.parametrize("host", ["git.corp", "a.lab.corp", "a.b.lab.corp"])
def test_names_that_need_no_proxy(host):
    assert PLACES.names(host)


@pytest.mark.parametrize("host", ["x.git.corp", "lab.corp", "evillab.corp", "git.corp.example", ""])
def test_names_that_only_look_alike_go_by_it(host):
    assert not PLACES.names(host)


@pytest.mark.parametrize("address", ["10.255.0.1", "fd00::1", "192.0.2.1"])
def test_addresses_of_the_ranges_need_no_proxy(address):
    assert PLACES.holds(address)


@pytest.mark.parametrize("address", ["11.0.0.1", "192.0.2.2", "fe00::1", "::ffff:10.0.0.1"])
def test_other_addresses_go_by_it(address):
    assert not PLACES.holds(address)
