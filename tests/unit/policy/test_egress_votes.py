"""How layers vote on one request."""

import pytest

from orchestrator.policy.egress_votes import DEFAULT, EgressVotes
from orchestrator.policy.network_match import compile_network
from tests.support.egress import request


@pytest.fixture
def votes(layer):
    """Asks layers, by name and text of their network section, about a request."""

    def build(text, **sections):
        layers = [
            compile_network(layer(f"network: {{{section}}}", name))
            for name, section in sections.items()
        ]
        return EgressVotes(layers, request(text))

    return build


RULE = "rules: [{id: r, hosts: a.example.com, effect: EFFECT}], default: deny"


def test_a_rule_speaks_before_its_layers_default(votes):
    """And names itself, its layer, and what to do."""
    asked = votes("CONNECT a.example.com:443", session=RULE.replace("EFFECT", "ask"))
    decision, terms = asked.on_tunnel()

    assert (decision.effect, decision.rule, decision.layer) == ("ask", "r", "session")
    assert decision.reason == "the rule 'r' says ask for a.example.com"
    assert decision.hint
    assert not terms.inspect


def test_a_default_says_that_it_is_one(votes):
    """Where no rule matches."""
    decision, _ = votes("GET https://b.example.com/?q", user="default: deny").on_request("GET")

    assert (decision.effect, decision.rule, decision.layer) == ("deny", DEFAULT, "user")


def test_a_projects_own_yes_is_none(votes):
    """Also where it lifts its own default."""
    allow = RULE.replace("EFFECT", "allow")

    def effect(**sections):
        return votes("CONNECT a.example.com:443", **sections).on_tunnel()[0].effect

    assert effect(project=allow) == "deny"
    assert effect(user=allow, project="default: deny") == "deny"
    assert effect(user=allow, project=allow) == "allow"
    assert effect(user=allow, project="default: ask") == "ask"


def test_nobody_voting_names_the_question_and_the_key(votes):
    """Without the query, which may hold secrets."""
    decision, _ = votes("GET https://a.example.com/x?token=1", user="rules: []").on_request("GET")

    assert decision.reason.endswith("votes on whether to send GET https://a.example.com/x")
    assert "network.default" in decision.hint


def test_a_look_up_is_for_any_port(votes):
    """And is never a question."""
    text = "rules: [{id: r, hosts: a.example.com, ports: 8443, effect: ask}], default: deny"

    assert votes("LOOKUP a.example.com", user=text).on_name().effect == "allow"
    assert votes("LOOKUP b.example.com", user=text).on_name().effect == "deny"


def test_the_strictest_reading_counts(votes):
    """Of the path, and of the methods that headers name."""
    text = (
        "rules: [{id: r, hosts: a.example.com, paths: /v1/**, effect: allow}, "
        "{id: s, hosts: a.example.com, paths: /admin, effect: ask}], default: deny"
    )

    def decision(path):
        return votes(f"GET https://a.example.com{path}", user=text).on_request("GET")[0]

    assert decision("/v1/x").effect == "allow"
    assert decision("/v1/..%2fadmin").effect == "ask"
    assert decision("/v1/../x").effect == "deny"
    assert decision("/v1/../x").reason.endswith("; a server may take it for GET /x")
    assert "take it for" not in decision("/x").reason
