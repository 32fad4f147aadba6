"""Remarks on what lets things out."""

import pytest

from orchestrator.policy.lint_network import lint_network
from orchestrator.sandbox.way_environment import LOCAL

RULE = "hosts: a.example.com, effect: allow"
ONE = ", methods: GET, paths: /x, inject: {secret: s, header: h}"


def remarks_of(layer, *rules, default="deny"):
    """Return the remarks on rules, one a line, and on the default."""
    listed = "".join(f"\n    - {{id: r{at}, {rule}}}" for at, rule in enumerate(rules, 1))
    text = f"network:\n  default: {default}\n  rules:{listed or ' []'}"
    return [f"{place.line}: {remark}" for place, remark in lint_network(layer(text))]


@pytest.mark.parametrize(
    "rule",
    [
        RULE,
        "hosts: '*.example.com', effect: allow, methods: [GET, HEAD]",
        f"{RULE}, methods: GET, paths: /v1/**, inject: {{secret: s, header: h}}",
        "hosts: a.example.com, effect: deny, reason: no",
        "hosts: db, private: 10.1.2.0/24, effect: allow",
        f"{RULE}, methods: GET, paths: ['/v?/**', '/a[?]']",
    ],
)
def test_what_is_meant_gets_none(layer, rule):
    """Narrow rules, each with what it needs."""
    assert remarks_of(layer, rule) == []


@pytest.mark.parametrize(
    ("rule", "remark"),
    [
        ("hosts: '*', effect: allow", "allows any public name"),
        ("hosts: '*', effect: ask", "asks about any public name"),
        ("hosts: a.example.com, effect: deny", "denies without a reason"),
        (f"{RULE}, schemes: http", "allows plain http"),
        ("hosts: db, private: 127.0.0.1/32, effect: allow", "only this machine should reach"),
        ("hosts: db, private: 10.0.0.0/8, effect: allow", "which is 16777216 addresses"),
        ("hosts: db, private: fd00::/8, effect: allow", "opens fd00::/8"),
        (
            "hosts: '*.example.com', private: 10.1.2.0/24, effect: allow",
            "opens a range to every name that fits",
        ),
        ("hosts: db, effect: allow", "names db, which has no public address"),
        (
            f"{RULE}, methods: GET, paths: '/a?x=1'",
            "has '?' in '/a?x=1', which stands for one character",
        ),
        (f"{RULE}, methods: GET, paths: '/search?'", "begins no query"),
        (f"hosts: '*.example.com', effect: allow{ONE}", "to whatever name fits"),
        (f"{RULE}, methods: GET, inject: {{secret: s, header: h}}", "every path"),
        (f"{RULE}, paths: /x, inject: {{secret: s, header: h}}", "every method"),
        (f"{RULE}, methods: GET, paths: /x, inject: {{secret: s, query: k}}", "into their logs"),
    ],
)
def test_what_is_unlikely_to_be_meant_is_remarked_on(layer, rule, remark):
    """On the rule's line, by its id."""
    (found,) = remarks_of(layer, rule)

    assert found.startswith("6: rule 'r1' ")
    assert remark in found


@pytest.mark.parametrize(
    ("host", "named"),
    [
        *((f"'{name}'", name) for name in LOCAL.split(",")),
        ("api.localhost", "api.localhost"),
        ("'*.api.localhost'", "*.api.localhost"),
    ],
)
def test_a_name_that_clients_never_bring_to_the_proxy_is_told(layer, host, named):
    """With what to do instead: the box's NO_PROXY has it."""
    rest = "private: [127.0.0.1/32, '::1/128'], paths: /v1/**"
    remarks = remarks_of(layer, f"hosts: {host}, effect: ask, {rest}")
    (found,) = [remark for remark in remarks if "NO_PROXY" in remark]

    assert f"names {named}, which to programs in the box is the box itself" in found
    assert "`services`" in found
    denied = remarks_of(layer, f"hosts: {host}, effect: deny, reason: r")
    assert not [remark for remark in denied if "NO_PROXY" in remark]


@pytest.mark.parametrize(
    ("rules", "remark"),
    [
        ((RULE, "hosts: '*.example.com', effect: deny, reason: r"), "'r1' never counts: all of it is denied by 'r2'"),
        (("hosts: '*', effect: deny, reason: r", RULE), "'r2' never counts: all of it is denied by 'r1'"),
        ((RULE, f"{RULE}, methods: GET, paths: /x"), "'r2' adds nothing: it is covered by 'r1'"),
        (("hosts: '*.example.com', effect: allow", RULE), "'r2' adds nothing"),
        ((f"{RULE}, methods: GET, paths: /x, inject: {{secret: s, header: h}}",
          f"{RULE}, methods: GET, paths: /y, inject: {{secret: t, header: h}}"), "such a request is refused"),
    ],
)  # fmt: skip
def test_rules_that_stand_in_each_others_way_are_named(layer, rules, remark):
    """Both of them."""
    (found,) = remarks_of(layer, *rules)

    assert remark in found


@pytest.mark.parametrize(
    "rules",
    [
        (RULE, "hosts: a.example.com, methods: POST, effect: deny, reason: r"),
        (RULE, "hosts: a.example.com, ports: 8443, effect: deny, reason: r"),
        (RULE, "hosts: a.example.com, websocket: true, effect: deny, reason: r"),
        (RULE, f"{RULE}, ports: 8443"),
        (RULE, f"{RULE}, max_upload: 1KiB"),
        (f"{RULE}, methods: GET", f"{RULE}, methods: [GET, PUT]"),
        (f"{RULE}, paths: /a", f"{RULE}, paths: /b"),
        (f"{RULE}, git: read", f"{RULE}, git: write"),
        (f"{RULE}, schemes: tcp, ports: [22]", RULE),
        (RULE, "hosts: ['*'], ports: 8443, methods: GET, effect: deny, reason: r"),
        ("hosts: '*.example.com', effect: allow", "hosts: '*.com', effect: deny, reason: r, paths: /x"),
    ],
)  # fmt: skip
def test_rules_that_only_meet_are_not(layer, rules):
    """Each of them says something of its own."""
    assert remarks_of(layer, *rules) == []


def test_an_open_default_is_named_and_what_it_makes_needless(layer):
    """And a refusal of a name that leaves what is below it."""
    found = remarks_of(
        layer, RULE, "hosts: paste.example.net, effect: deny, reason: r", default="allow"
    )

    assert found == [
        "4: network.default is allow: any public host may be reached, and sent to",
        "6: rule 'r1' allows what network.default allows anyway",
        "7: rule 'r2' denies paste.example.net but not what is below it: add '*.paste.example.net'",
    ]
