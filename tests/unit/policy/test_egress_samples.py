"""Requests that rules speak of."""

from orchestrator.policy.egress_samples import rule_requests
from orchestrator.policy.egress_text import parse_egress


def test_each_rule_gives_requests_that_it_matches_and_some_beside(load):
    """For wildcards, globs, addresses and other schemes too."""
    policy = load(
        p="network:\n  rules:\n"
        "    - {id: a, hosts: ['*.example.com', '2001:db8::1'], methods: PUT, "
        "paths: '/v[12]/{x,y}/**', websocket: true, effect: allow}\n"
        "    - {id: b, hosts: '*', schemes: tcp, ports: 22, effect: deny}\n"
    )
    found = list(rule_requests(policy))

    assert {
        "CONNECT any.example.com:443",
        "PUT https://any.example.com:443/v1/x/a/b",
        "POST https://any.example.com:443/",
        "GET wss://any.example.com:443/",
        "PUT https://[2001:db8::1]:443/v1/x/a/b",
        "CONNECT any.example.com:22",
    } <= {*found}
    assert all(parse_egress(text) for text in found)
