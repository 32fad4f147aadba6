"""Terms in words."""

import pytest

from orchestrator.policy.explain import explain_data, explain_text
from orchestrator.policy.explain_terms import terms_data, terms_rows
from orchestrator.schema.egress import Budget, InjectionTerms, Terms
from tests.support.egress import judge, request


def test_a_plain_yes_needs_none():
    """Nothing comes with it."""
    assert list(terms_rows(Terms())) == []
    assert terms_data(Terms())["injections"] == ()


def test_everything_else_is_said():
    """What is opened, sent along, reached and limited."""
    terms = Terms(
        inspect=True,
        private=("10.0.0.0/8",),
        injections=(
            InjectionTerms("session/a", "gh", "header", "Authorization"),
            InjectionTerms("session/b", "git", "basic", "me"),
        ),
        max_upload=1024,
        max_download=2048,
        budgets=(Budget("session", 4096, None), Budget("org/r", None, 8192)),
    )

    assert list(terms_rows(terms)) == [
        ("opened", "each request inside is judged by itself"),
        ("sends", "the secret 'gh' in the header Authorization, put in on the host (session/a)"),
        ("sends", "the secret 'git' in Basic credentials of me, put in on the host (session/b)"),
        ("private", "may have an address in 10.0.0.0/8"),
        ("limit", "1KiB sent at a time"),
        ("limit", "2KiB got at a time"),
        ("limit", "4KiB sent in the whole session (session)"),
        ("limit", "8KiB got in the whole session (org/r)"),
    ]


@pytest.mark.parametrize(
    ("text", "private", "told"),
    [
        ("GET https://localhost:8443/x", "", True),
        ("CONNECT db.corp.internal:443", "", True),
        ("GET https://localhost:8443/x", ", private: 127.0.0.0/8", False),
        ("GET https://api.example.com/x", "", False),
        ("LOOKUP localhost", "", False),
        ("GET https://localhost:9/x", "", False),
    ],
)
def test_a_yes_that_no_range_is_open_for_is_told(load, text, private, told):
    """The proxy would refuse the address; the words and the data for a machine both say so."""
    hosts = "[localhost, db.corp.internal, api.example.com]"
    rule = f"id: r, hosts: {hosts}, ports: [443, 8443], effect: allow{private}"
    policy = load(p=f"network: {{default: deny, rules: [{{{rule}}}]}}")
    asked = request(text)
    verdict = judge(policy, text)
    decision, terms = verdict.decision, verdict.terms

    notes = explain_data(policy, asked, decision, terms=terms)["notes"]
    assert any(f"{asked.host} has no public address" in note for note in notes) == told
    shown = explain_text(policy, asked, decision, terms=terms)
    assert (f"  also    {asked.host} has no public address" in shown) == told
