"""What policy is asked about, of either kind."""

from orchestrator.policy.judged import EGRESS, judge, judge_egress, judged_subject
from orchestrator.schema.request import ReadRequest
from tests.support.egress import request

TEXT = (
    "files: {read: {default: ask}}\ntools: {default: allow}\nnetwork: {default: deny, rules: "
    "[{id: ssh, hosts: a.example.com, schemes: tcp, ports: 22, effect: allow}]}"
)


def test_each_kind_is_judged_by_its_section(load):
    """A call by its tool and path, a request by the network's rules."""
    policy = load(p=TEXT)
    read = ReadRequest("/workspace/a", resolved="/workspace/a")

    assert judge(policy, read, tool="read").effect == "ask"
    assert judge(policy, request("GET https://a.example.com/"), tool=EGRESS).effect == "deny"
    assert judged_subject(read) == "/workspace/a"
    assert judged_subject(request("GET https://a.example.com/x")) == "GET https://a.example.com/x"


def test_a_connect_is_for_what_the_policy_says(load):
    """As in a session, where the proxy asks before it judges."""
    policy = load(p=TEXT)

    assert judge_egress(policy, request("CONNECT a.example.com:22")).decision.rule == "ssh"
    assert judge(policy, request("CONNECT a.example.com:23"), tool=EGRESS).effect == "deny"
