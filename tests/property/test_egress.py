"""What holds of every verdict on what would leave the box."""

import random

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from orchestrator.policy.addresses import check_address
from orchestrator.policy.hosts import HostRefused, canonical_host, is_address
from orchestrator.policy.judge_egress import EgressRules
from orchestrator.policy.judged import judge_egress
from orchestrator.policy.suggest_egress import draft_of
from orchestrator.policy.url_paths import PathRefused, readings
from orchestrator.schema.decision import STRICTNESS
from orchestrator.schema.egress import EgressRequest, EgressVerdict
from tests.property.egress import (
    HOSTS,
    NAMES,
    blocked_addresses,
    lenient_reading,
    paths,
    policy_of,
    requests,
    rule_texts,
    section_of,
    sections,
    spellings,
)

LAYERS = st.lists(st.tuples(st.sampled_from(NAMES), sections()), min_size=1, max_size=3)


def looser(request: EgressRequest, after: EgressVerdict, before: EgressVerdict) -> bool:
    """Say whether a verdict lets out more than another; an opened tunnel lets out nothing by itself."""
    if request.door == "dns" or after.terms.inspect:
        return False
    if before.terms.inspect:
        return after.decision.effect == "allow"
    if STRICTNESS[after.decision.effect] < STRICTNESS[before.decision.effect]:
        return True
    if after.decision.effect == "deny":
        return False
    one, other = after.terms, before.terms
    return (
        not all(any(_within(cidr, wide) for wide in other.private) for cidr in one.private)
        or (one.max_upload or 2**60) > (other.max_upload or 2**60)
        or not {*other.budgets} <= {*one.budgets}
    )


def _within(cidr: str, wide: str) -> bool:
    return cidr == wide or (cidr, wide) == ("10.0.0.5/32", "10.0.0.0/8")


@settings(max_examples=120, deadline=None)
@given(LAYERS, st.tuples(st.sampled_from(NAMES), sections()), requests())
def test_another_layer_never_loosens(layers, more, request):
    """Where others vote, whatever it says; where nobody does, it is the first to."""
    before = EgressRules(policy_of(layers)).judge(request)
    assume(before.decision.rule != "unmatched")
    no_say = {(name, "delegate") for name in NAMES} | {("project", "allow")}
    says = {(name, text.split()[2].strip(",")) for name, text in layers} - no_say
    assume(says or before.decision.rule not in {"special-name", "unnamed-address"})

    for stack in ([*layers, more], [more, *layers]):
        after = EgressRules(policy_of(stack)).judge(request)
        assert not looser(request, after, before), (stack, after, before)


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(("allow", "ask", "deny")),
    st.lists(rule_texts(), max_size=4),
    rule_texts(("deny",)),
    requests(),
)
def test_a_rule_that_denies_never_loosens(default, rules, denial, request):
    """In the same layer, in any place."""
    before = EgressRules(policy_of([("session", section_of(default, rules))])).judge(request)

    for listed in ([*rules, denial], [denial, *rules]):
        after = EgressRules(policy_of([("session", section_of(default, listed))])).judge(request)
        assert STRICTNESS[after.decision.effect] >= STRICTNESS[before.decision.effect] or (
            after.terms.inspect
        )


@settings(max_examples=100, deadline=None)
@given(LAYERS, sections(), requests())
def test_a_project_only_takes_away(layers, section, request):
    """Also where nobody else votes: its yes counts for nothing."""
    others = [(name, text) for name, text in layers if name != "project"]
    assume(others)
    before = EgressRules(policy_of(others)).judge(request)
    after = EgressRules(policy_of([*others, ("project", section)])).judge(request)

    assert after.decision.effect != "allow" or before.decision.effect != "deny"
    assert not set(after.terms.private) - set(before.terms.private)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(LAYERS, requests())
def test_what_is_opened_lets_out_nothing_that_is_not_judged(layers, request):
    """A tunnel that is let through unread is one in which no rule could refuse a request."""
    rules = EgressRules(policy_of(layers))
    tunnel = EgressRequest("connect", request.scheme, request.host, max(request.port, 1))
    verdict = rules.judge(tunnel)
    assume(verdict.decision.effect == "allow" and not verdict.terms.inspect)
    assume(request.method is not None and request.scheme == "https")

    inside = rules.judge(request)
    assert inside.decision.effect == "allow" or request.upgrade or "%" in request.target


@settings(max_examples=250, deadline=None)
@given(paths(), st.integers(0, 2**32))
def test_no_reading_of_an_allowed_path_leaves_its_folder(path, seed):
    """Against another's notion of what servers do, in random order."""
    rule = "hosts: a.example.com, paths: /v1/**, effect: allow"
    rules = EgressRules(policy_of([("session", section_of("deny", [rule]))]))
    request = EgressRequest("inspected", "https", "a.example.com", 443, "GET", path)
    assume(rules.judge(request).decision.effect == "allow")

    chance = random.Random(seed)
    for _ in range(20):
        reading = lenient_reading(path, chance)
        assert reading == "/v1" or reading.startswith("/v1/"), (path, reading)


@settings(max_examples=300, deadline=None)
@given(paths())
def test_readings_are_closed(path):
    """A reading of a reading is a reading, unless it would be refused as a path."""
    try:
        found = readings(path)
    except PathRefused:
        return
    for reading in found:
        try:
            again = readings(reading)
        except PathRefused:
            continue
        assert {*again} <= {*found} or "%" in reading


@settings(max_examples=600, deadline=None)
@given(
    st.one_of(
        st.text(max_size=40), st.binary(max_size=40), st.from_regex(r"[A-Za-z0-9.:\[\]%x-]{1,40}")
    )
)
def test_a_canonical_host_is_its_own(text):
    """And holds nothing that another program could read otherwise."""
    try:
        host = canonical_host(text)
    except HostRefused:
        return

    assert canonical_host(host) == host
    assert host == host.lower()
    assert {*host} <= {*"abcdefghijklmnopqrstuvwxyz0123456789.-_:"}


@settings(max_examples=600, deadline=None)
@given(blocked_addresses())
def test_no_spelling_of_a_blocked_address_is_let_through(address):
    """It is refused as a host, or is an address that is not dialled."""
    for text in spellings(address):
        try:
            host = canonical_host(text)
        except HostRefused:
            continue
        assert is_address(host), text
        assert check_address(host) is not None, text


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=30),
    st.text(max_size=30),
    st.text(max_size=30),
    st.one_of(st.none(), st.text(max_size=12)),
    st.integers(-5, 70000),
)
def test_nothing_makes_the_gate_fail(host, target, other, method, port):
    """Whatever the box sends is judged, or refused by name; no text is a bug of ours."""
    rules = EgressRules(policy_of([("session", section_of("allow", []))]))
    for name in (host, "a.example.com"):
        request = EgressRequest("http", "https", name, port, method, target, other, (other,))
        for asked in (request, EgressRequest("connect", "tcp", name, port)):
            verdict = rules.judge(asked)
            assert verdict.decision.rule != "gate-error", verdict
            assert verdict == rules.judge(asked)


@settings(max_examples=250, deadline=None)
@given(requests(), st.sampled_from(HOSTS))
def test_a_drafted_rule_lets_out_its_request_and_no_other_host(request, other):
    """And with it alone."""
    draft = draft_of(request)
    assume(draft is not None)
    lines = "\n".join(f"    {line}" for line in draft.lines("drafted", "allow"))
    policy = policy_of([("session", f"network:\n  default: deny\n  rules:\n{lines}")])

    assert judge_egress(policy, request).decision.effect == "allow"
    if other != request.host:
        away = EgressRequest("connect", "https", other, 443)
        assert judge_egress(policy, away).decision.effect == "deny"
