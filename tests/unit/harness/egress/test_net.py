from orchestrator.egress.scripted import ScriptedDialer, ScriptedResolver
from orchestrator.egress.sockets import AddressDialer, HostResolver
from orchestrator.harness.egress.net import Net


def test_net_is_the_hosts_own_unless_another_is_given():
    assert isinstance(Net().resolver, HostResolver)
    assert isinstance(Net().dialer, AddressDialer)

    given = Net(ScriptedResolver({}), ScriptedDialer({}))
    assert isinstance(given.resolver, ScriptedResolver)
