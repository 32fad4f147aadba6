"""Remarks on policies that load."""

import pytest

from orchestrator.policy.lint import lint_layer

RISKS = (
    "risks: {"
    + ", ".join(
        f"{risk}: ask"
        for risk in (
            *("destructive", "publishes", "remote_code", "privilege", "persistence"),
            *("secrets", "upload", "opaque", "exhaustion", "evasion"),
        )
    )
    + "}"
)


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("commands: {default: allow}", "says nothing on destructive, publishes"),
        ("commands: {risks: {opaque: allow}}", "commands.risks.opaque is allow"),
        ("commands: {risks: {evasion: {normal: deny, high: allow}}}", "commands.risks.evasion is"),
        ("commands: {rules: [{id: a, program: x, effect: ask}]}", "rule 'a' has no examples"),
        (
            "commands: {default: allow, rules: [{id: a, program: x, effect: allow}]}",
            "rule 'a' allows what commands.default allows anyway",
        ),
        (
            "commands: {rules: [{id: a, program: x, effect: deny}]}",
            "rule 'a' denies without a reason",
        ),
        ("network: {default: allow}", "network.default is allow: any public host"),
        (
            "network: {rules: [{id: a, hosts: x.example, effect: deny}]}",
            "rule 'a' denies without a reason",
        ),
        ("models: {in_box: allow}", "models.in_box is allow without models.box.tokens"),
        ("models: {in_box: allow, box: {remote: allow}}", "without models.box.tokens"),
        ("models: {in_box: allow, box: {tokens: 9, remote: allow}}", "fetch any address"),
        ("audit: {sign: false}", "audit.sign is false"),
        (
            "sandbox: {require: [seccomp]}",
            "sandbox.require leaves out no_network, no_new_privileges",
        ),
        ("sandbox: {read_only_root: false}", "sandbox.read_only_root is false"),
        ("sandbox: {prepare: {packages: [jq]}}", "no session starts unless another layer has it"),
        (
            "sandbox: {prepare: {packages: [jq]}}\nnetwork: {packages: [pip]}",
            "network.packages leaves out: no session starts",
        ),
    ],
)
def test_what_is_unlikely_to_be_meant_is_remarked_on(layer, text, remark):
    """Each remark stands on its line."""
    found = [str(item) for item in lint_layer(layer(text))]

    assert any(item.startswith("session.yaml:3: ") and remark in item for item in found), found


def test_a_careful_policy_gets_no_remark(layer):
    """No noise where nothing is odd."""
    text = (
        f"commands: {{default: allow, {RISKS}, rules: [{{id: a, program: x, effect: deny,"
        " reason: r, examples: {match: [x], no_match: [y]}}]}\n"
        "network: {default: deny}\nmodels: {in_box: allow, box: {cost_usd: 1}}\napprovals: {scopes: [once]}\n"
        "audit: {sign: true}\nsandbox: {read_only_root: true,"
        " require: [seccomp, no_network, non_root, no_new_privileges]}"
    )

    assert lint_layer(layer(text)) == []
    assert lint_layer(layer("commands: {default: delegate}")) == []
    fetched = "sandbox: {prepare: {packages: [jq]}}\nnetwork: {packages: [pip, apt]}"
    assert lint_layer(layer(fetched)) == []


def test_remarks_come_in_reading_order(layer):
    """By line, whatever found them."""
    remarks = lint_layer(layer("audit: {sign: false}\nnetwork: {default: allow}"))

    assert [item.place.line for item in remarks] == [3, 4]
