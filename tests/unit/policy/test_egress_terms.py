"""What a yes comes with."""

import pytest

from orchestrator.policy.egress_terms import injections_of, session_budgets, terms_of
from orchestrator.policy.network_match import compile_network
from orchestrator.schema.egress import Budget


@pytest.fixture
def network(layer):
    """Compiles a layer of rules on one host."""

    def build(*rules, name="session"):
        text = "".join(
            f"\n    - {{id: r{at}, hosts: a.example.com, effect: ask, {rule}}}"
            for at, rule in enumerate(rules)
        )
        return compile_network(layer(f"network:\n  rules:{text or ' []'}", name))

    return build


def private(*readings):
    """Return the ranges that a request is let to, by who says yes to each reading of it."""
    voting = [one for reading in readings for one in reading]
    return terms_of(voting, each=readings, sure=(), https=True).private


def test_within_a_layer_ranges_add_and_limits_take_the_least(network):
    """Its author wrote both rules."""
    one = network("private: 10.0.0.0/8, max_upload: 2KiB", "private: fd00::/16, max_upload: 1KiB")
    terms = terms_of([(one, one.rules)], each=[[(one, one.rules)]], sure=one.rules, https=True)

    assert terms.private == ("10.0.0.0/8", "fd00::/16")
    assert (terms.max_upload, terms.max_download) == (1024, None)


def test_what_is_not_sure_opens_nothing_but_limits(network):
    """A request that one server reads as matching and another does not."""
    one = network(
        "private: 10.0.0.0/8, max_download: 1KiB, inject: {secret: s, header: h}, "
        "session_download: 1MiB"
    )
    voting = [(one, one.rules)]
    terms = terms_of(voting, each=[voting, [(one, ())]], sure=(), https=True)

    assert (terms.private, terms.injections) == ((), ())
    assert terms.max_download == 1024
    assert terms.budgets == (Budget("session/r0", None, 2**20),)


def test_a_layer_that_votes_by_default_opens_nothing(network):
    """And a project neither opens nor is asked to."""
    one, other = network("private: 10.0.0.0/8"), network(name="org")
    project = network("private: 192.168.0.0/16", name="project")

    voting = [(project, project.rules), (one, one.rules)]
    assert private([(other, ()), (one, one.rules)]) == ()
    assert private(voting) == ("10.0.0.0/8",)
    assert private(voting[:1]) == ()


def test_a_range_is_opened_by_every_reading_whichever_rule_lets_it(network):
    """Within a reading rules add; of readings only what they have in common is opened."""
    one = network("private: 10.0.0.0/8", "private: [10.1.0.0/16, fd00::/16]", "max_upload: 1KiB")
    wide, narrow, none = ([(one, [item])] for item in one.rules)

    assert private(wide, narrow) == ("10.1.0.0/16",)
    assert private(narrow, wide, narrow) == ("10.1.0.0/16",)
    assert private(wide, none) == ()
    assert private([(one, one.rules)], narrow) == ("10.1.0.0/16", "fd00::/16")


def test_credentials_go_by_https_each_once(network):
    """Two for one place are for whoever puts them in to refuse; none is a project's."""
    one = network(
        "inject: {secret: one, header: authorization}",
        "inject: {secret: one, header: Authorization, variables: T}",
        "inject: {secret: two, basic: user}",
        "inject: {secret: three, query: Key}",
    )
    project = network("inject: {secret: five, header: X-Other}", name="project")
    voting = [(one, one.rules), (project, project.rules)]
    sure = (*one.rules, *project.rules)

    found = terms_of(voting, each=[voting], sure=sure, https=True).injections
    assert [(item.secret, item.form, item.name) for item in found] == [
        ("one", "header", "authorization"),
        ("two", "basic", "user"),
        ("three", "query", "Key"),
    ]
    assert terms_of(voting, each=[voting], sure=sure, https=False).injections == ()
    assert injections_of(project.rules) == ()


def test_a_sessions_budget_is_each_layers(layer):
    """The least of them is reached first."""
    one = compile_network(layer("network: {max_upload: 1KiB}", "org"))
    other = compile_network(layer("network: {max_download: 2KiB}"))

    assert session_budgets([one, other, compile_network(layer("", "user"))]) == (
        Budget("org", 1024, None),
        Budget("session", None, 2048),
    )
