"""What a network rule may say, and the next step where it says something else."""

import pytest

from orchestrator.errors import PolicyError
from orchestrator.policy.network_rules import FORMS

RULE = "hosts: a.example.com, effect: allow"


@pytest.mark.parametrize(
    "rule",
    [
        RULE,
        "hosts: ['*', '*.example.com', 203.0.113.7, '2001:db8::1', db, xn--bcher-kva.example], effect: ask",
        "hosts: '*.zip', effect: deny",
        f"{RULE}, ports: 8443, schemes: [https, http], methods: [GET, PROPFIND], paths: ['/a b/**']",
        "hosts: db, schemes: tcp, ports: [5432], private: 10.0.0.0/8, effect: allow",
        f"{RULE}, websocket: true, inspect: true, max_upload: 1KiB, max_download: 1MiB",
        f"{RULE}, inspect: false, session_upload: 1GiB, session_download: 1GiB, hint: h, reason: r",
        f"{RULE}, inject: {{secret: 'vault:a/b', header: X-Key, format: 'k {{secret}}', variables: A}}",
        f"{RULE}, inject: {{secret: 'env:A', basic: ''}}",
        f"{RULE}, inject: {{secret: 'keyring:a', query: key}}",
        f"{RULE}, inject: {{secret: a, sigv4: eu-west-1/s3}}",
        "hosts: 10.0.0.5, private: 10.0.0.0/24, effect: allow",
        "hosts: 169.254.169.254, effect: deny",
    ],
)
def test_a_rule_may_say_this(layer, rule):
    """All keys of the manual, one or many where a list may stand."""
    (read,) = layer(f"network: {{rules: [{{id: r, {rule}}}]}}").document.network.rules

    assert read.id == "r"


@pytest.mark.parametrize(
    ("rule", "mistake"),
    [
        ("hosts: API.example.com, effect: allow", "write 'api.example.com'"),
        ("hosts: a.example.com., effect: allow", "write 'a.example.com'"),
        ("hosts: '*.B\u00fccher.example', effect: allow", "write '*.xn--bcher-kva.example'"),
        ("hosts: '::ffff:203.0.113.7', effect: allow", "write '203.0.113.7'"),
        ("hosts: '*.com', effect: allow", "hosts: host '*.com' is too wide"),
        ("hosts: 'a.*.com', effect: allow", "expected a name, *.name, an address or *"),
        ("hosts: 'https://a.example.com', effect: allow", "expected a name"),
        ("hosts: 'a.example.com:443', effect: allow", "expected a name"),
        ("hosts: '127.1', effect: deny", "four decimal parts"),
        ("hosts: '*.10.0.0.1', effect: allow", "nothing below it"),
        ("hosts: 10.0.0.5, effect: allow", "'10.0.0.5' is private: it is reached only where"),
        ("hosts: 169.254.169.254, private: 10.0.0.0/8, effect: allow", "metadata addresses never"),
        (f"{RULE}, private: 8.8.8.0/24", "expected a range within one of"),
        (f"{RULE}, private: 169.254.0.0/16", "no policy opens that"),
        (f"{RULE}, methods: get", "write 'GET'"),
        (f"{RULE}, methods: CONNECT", "never let out"),
        (f"{RULE}, methods: 'G ET'", "methods"),
        (f"{RULE}, paths: v1/**", "begins with a slash"),
        (f"{RULE}, paths: /v1/%2a", "write [*]"),
        (f"{RULE}, paths: /v1/../x", "'.' and '..'"),
        (f"{RULE}, paths: /%c0%ae", "not UTF-8"),
        (f"{RULE}, ports: 0", "greater than or equal to 1"),
        (f"{RULE}, schemes: tcp", "scheme tcp needs ports"),
        (f"{RULE}, schemes: [tcp], ports: 22, methods: GET", "nobody reads"),
        (f"{RULE}, schemes: ftp", "expected 'https', 'http' or 'tcp'"),
        (f"{RULE}, inspect: false, methods: GET", "take `inspect: false` away"),
        (f"{RULE}, inspect: false, inject: {{secret: s, header: h}}", "take `inspect: false` away"),
        (f"{RULE}, schemes: [https, http], inject: {{secret: s, header: h}}", "https alone"),
        (f"{RULE}, inject: {{secret: s}}", "one of header, basic, query, sigv4, got none"),
        (f"{RULE}, inject: {{secret: s, header: h, basic: u}}", "got header and basic"),
        (f"{RULE}, inject: {{secret: s, basic: u, format: 'x{{secret}}'}}", "not with basic"),
        (f"{RULE}, inject: {{secret: s, header: Host}}", "carries no credential"),
        (f"{RULE}, inject: {{secret: s, header: Proxy-Authorization}}", "carries no credential"),
        (f"{RULE}, inject: {{secret: s, header: 'a: b'}}", "inject.header"),
        (f"{RULE}, inject: {{secret: 'file:/x', header: h}}", "inject.secret"),
        (f"{RULE}, inject: {{secret: s, basic: 'u:p'}}", "inject.basic"),
        (f"{RULE}, inject: {{secret: s, header: h, format: x}}", "inject.format"),
        (f"{RULE}, inject: {{secret: s, sigv4: s3}}", "inject.sigv4"),
        ("hosts: '*', effect: ask, private: 10.0.0.0/8", "anybody's name may lead there"),
        ("hosts: '*', effect: allow, inject: {secret: s, header: h}", "anybody could have"),
        ("hosts: a.example.com, effect: deny, private: 10.0.0.0/8", "lets nothing out"),
        ("hosts: a.example.com, effect: deny, max_upload: 1KiB", "lets nothing out"),
        (f"{RULE}, max_uplod: 1KiB", "nearest: 'max_upload'"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_what_was_expected(layer, rule, mistake):
    """When the policy loads."""
    with pytest.raises(PolicyError) as error:
        layer(f"network:\n  rules:\n    - {{id: r, {rule}}}")

    assert error.value.message.startswith("session.yaml:5: ")
    assert "network.rules[0]" in error.value.message
    assert mistake in error.value.message


def test_a_rule_reads_requests_where_its_keys_need_it(layer):
    """Nothing else opens a connection."""

    def reads(more: str) -> bool:
        document = layer(f"network: {{rules: [{{id: r, {RULE}{more}}}]}}").document
        return document.network.rules[0].reads_requests

    assert not any(map(reads, ("", ", max_upload: 1KiB", ", inspect: false", ", ports: 8443")))
    keys = (", methods: GET", ", paths: /x", ", websocket: true", ", inspect: true")
    assert all(map(reads, keys))
    for form, value in zip(FORMS, ("X-Key", "user", "key", "eu/s3"), strict=True):
        assert reads(f", inject: {{secret: s, {form}: {value}}}")
