"""A network rule in one line."""

import pytest

from orchestrator.policy.network_shown import shown_rule


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("hosts: [a.example.com, '*.b.example.com'], effect: deny", "deny a.example.com, *.b.example.com"),
        ("hosts: a.example.com, methods: [GET, PUT], paths: /v1/**, websocket: true, effect: ask",
         "ask a.example.com; methods GET, PUT; paths /v1/**; websocket"),
        ("hosts: a.example.com, effect: ask, max_upload: 1KiB, session_download: 2MiB, inspect: true",
         "ask a.example.com; inspect true; max_upload 1KiB; session_download 2MiB"),
        ("hosts: a.example.com, effect: allow, inject: {secret: s, header: X-Key}",
         "allow a.example.com; inject s as header X-Key"),
        (
            "hosts: db, schemes: tcp, ports: [5432], private: 10.0.0.0/8, inspect: false, effect: allow",
            "allow db; schemes tcp; ports 5432; private 10.0.0.0/8; inspect false",
        ),
        ("hosts: g.example.com, git: read, inject: {secret: s, basic: ''}, effect: allow",
         "allow g.example.com; git read; inject s as basic"),
    ],
)  # fmt: skip
def test_a_rule_is_shown_with_all_it_says(layer, rule, line):
    """And nothing that it does not."""
    document = layer(f"network: {{rules: [{{id: r, {rule}}}]}}").document

    assert shown_rule(document.network.rules[0]) == line
