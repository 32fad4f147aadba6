"""The narrowest rule for a refused request."""

from dataclasses import replace

import pytest
import yaml

from orchestrator.policy.suggest_egress import draft_of, rule_id, suggest_rule
from tests.support.egress import judge, request


@pytest.fixture
def shut(load):
    """Lets nothing out."""
    return load(p="network: {default: deny}")


UUID = "123e4567-e89b-12d3-a456-426614174000"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("CONNECT api.example.com:443", {"id": "api-example-com-443"}),
        ("CONNECT api.example.com:8443", {"ports": [8443]}),
        ("GET http://api.example.com:8080/x", {"schemes": ["http"], "ports": [8080]}),
        ("GET https://api.example.com/", {"methods": ["GET"], "paths": ["/"]}),
        (
            "DELETE https://api.example.com/v1/items/42?q=1",
            {"id": "api-example-com-delete", "methods": ["DELETE"], "paths": ["/v1/items/*"]},
        ),
        (f"GET https://api.example.com/{UUID}/0123456789abcdef/x", {"paths": ["/*/*/x"]}),
        ("GET https://api.example.com/deadbeefcafe/1.5/v2", {"paths": ["/deadbeefcafe/1.5/v2"]}),
        ("GET https://api.example.com/a%20b/[x]*", {"paths": ["/a b/[[]x][*]"]}),
        ("GET https://api.example.com/@a%2fb", {"paths": ["/@a%2Fb", "/@a/b"]}),
        ("GET wss://api.example.com/ws", {"methods": ["GET"], "websocket": True}),
        (
            "GET https://git.example.com/o/r.git/info/refs?service=git-upload-pack",
            {"id": "git-example-com-read", "git": ["read"], "paths": ["/o/r.git/**"]},
        ),
        (
            "POST https://git.example.com/o/r/git-receive-pack",
            {"git": ["write"], "paths": ["/o/r/**"]},
        ),
        ("CONNECT 10.0.0.5:443", {"hosts": ["10.0.0.5"], "private": ["10.0.0.5/32"]}),
        ("CONNECT [2606:4700::1]:443", {"hosts": ["2606:4700::1"]}),
        ("CONNECT db:443", {"hosts": ["db"]}),
    ],
)
def test_it_lets_the_request_out(load, shut, text, rule):
    """And is no wider: a rule made of it, with nothing else, is enough."""
    found = suggest_rule(request(text), judge(shut, text))
    (read,) = yaml.safe_load(found)
    indented = "".join(f"    {line}\n" for line in found.splitlines())
    policy = load(p=f"network:\n  default: deny\n  rules:\n{indented}")

    assert {key: read.get(key) for key in rule} == rule
    assert judge(policy, text).decision.effect == "allow"
    assert judge(policy, "GET https://other.example.com/").decision.effect == "deny"


def test_it_names_every_path_that_the_request_may_be_taken_for(shut):
    asked = replace(request("GET https://api.example.com/x"), other_paths=("/admin",))
    (rule,) = yaml.safe_load(suggest_rule(asked, judge(shut, "GET https://api.example.com/x")))

    assert rule["paths"] == ["/x", "/admin"]


def test_it_does_not_let_out_what_is_beside(load, shut):
    """Other methods, paths and hosts stay refused."""
    text = "GET https://api.example.com/v1/items/42"
    found = suggest_rule(request(text), judge(shut, text))
    indented = "".join(f"    {line}\n" for line in found.splitlines())
    policy = load(p=f"network:\n  default: deny\n  rules:\n{indented}")

    for other in (
        "PUT https://api.example.com/v1/items/42",
        "GET https://api.example.com/v1/items/42/x",
        "GET https://api.example.com/v1/",
        "GET https://api.example.com:8443/v1/items/42",
        "GET https://x.api.example.com/v1/items/42",
    ):
        assert judge(policy, other).decision.effect == "deny"


@pytest.mark.parametrize(
    "text",
    [
        "CONNECT 169.254.169.254:80",
        "CONNECT 127.1:443",
        "GET https://api.example.com/a/../b",
        "GET https://api.example.com/%00",
        "TRACE https://api.example.com/",
        "LOOKUP api.example.com",
    ],
)
def test_none_is_given_where_no_rule_could(shut, text):
    """What no policy lets out, and what is no more than a look-up."""
    assert suggest_rule(request(text), judge(shut, text)) is None


def test_none_is_given_against_a_rule_that_denies(load):
    """It would win anyway; what was asked about is another matter."""
    text = "CONNECT api.example.com:443"
    rule = "network: {{rules: [{{id: r, hosts: api.example.com, effect: {}}}]}}"

    assert suggest_rule(request(text), judge(load(p=rule.format("deny")), text)) is None
    assert suggest_rule(request(text), judge(load(p=rule.format("ask")), text)) is not None


def test_the_address_of_a_name_is_opened_where_one_may(load):
    """When the proxy refused what the name resolved to."""
    text = "CONNECT db.example.com:443"
    verdict = judge(
        load(p="network: {rules: [{id: r, hosts: db.example.com, effect: allow}]}"), text
    )

    found = yaml.safe_load(suggest_rule(request(text), verdict, address="10.1.2.3"))
    assert found[0]["private"] == ["10.1.2.3/32"]
    assert suggest_rule(request(text), verdict, address="169.254.169.254") is None
    assert suggest_rule(request(text), verdict, address="nowhere") is None


def test_an_id_fits_in_a_policy():
    """Whatever the host is called."""
    draft = draft_of(request(f"CONNECT {'a' * 60}.{'b' * 60}:443"))

    assert rule_id(draft) == "a" * 60
