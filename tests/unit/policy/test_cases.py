"""Case files."""

import pytest

from orchestrator.errors import PolicyError
from orchestrator.policy.cases import parse_cases, run_cases

OPEN = (
    "tools: {default: allow}\nfiles: {read: {default: allow}, write: {default: ask}}\n"
    "commands: {default: allow, rules: [{id: no-make, program: make, effect: deny}]}"
)


def _cases(text):
    return parse_cases(text, file="c.yaml")


def test_commands_are_judged_and_failures_named(load):
    """The report gives what was expected, what came, and by which rule."""
    cases = _cases(
        "- {id: a, command: ls, expect: allow, why: x, source: y}\n"
        "- {id: b, command: make, expect: allow}\n"
        "- {id: c, command: make, expect: deny-or-ask}\n"
        "- {id: d, command: make, expect: deny}\n"
        "- {id: e, command: make, expect: ask}\n"
    )
    report = run_cases(load(p=OPEN), cases)

    assert report.as_data() == {
        "passed": 3,
        "failed": [
            {"id": "b", "expected": "allow", "got": "deny", "rule": "no-make"},
            {"id": "e", "expected": "ask", "got": "deny", "rule": "no-make"},
        ],
    }


@pytest.mark.parametrize(
    ("request_text", "expect"),
    [
        ("{kind: read, path: /workspace/a}", "allow"),
        ("{kind: read, path: /workspace/a, resolved: /etc/passwd}", "deny"),
        ("{kind: write, path: /workspace/a}", "ask"),
        ("{kind: edit, path: /workspace/a}", "ask"),
        ("{kind: grep, path: /workspace}", "allow"),
        ("{kind: find, path: /}", "deny"),
        ("{kind: ls, path: /workspace}", "allow"),
    ],
)
def test_file_requests_are_judged(load, request_text, expect):
    """Every kind of file request can be a case."""
    cases = _cases(f"- {{id: a, request: {request_text}, expect: {expect}}}")

    assert run_cases(load(p=OPEN), cases).failed == ()


@pytest.mark.parametrize(
    ("asked", "expect"),
    [
        ("GET https://api.example.com/v1/x", "allow"),
        ("POST https://api.example.com/v1/x", "deny"),
        ("CONNECT api.example.com:443", "allow"),
        ("CONNECT db.example.com:5432", "ask"),
        ("CONNECT 127.1:443", "deny"),
        ("LOOKUP other.example.com", "deny"),
    ],
)
def test_requests_out_of_the_box_are_judged(load, asked, expect):
    """Written as people do."""
    policy = load(
        p="network: {default: deny, rules: [{id: api, hosts: api.example.com, methods: GET, "
        "effect: allow}, {id: db, hosts: db.example.com, schemes: tcp, ports: 5432, effect: ask}]}"
    )
    cases = _cases(f"- {{id: a, request: '{asked}', expect: {expect}, why: x, source: y}}")

    assert run_cases(policy, cases).failed == ()
    assert cases[0].tool == "egress"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1", "c.yaml:1: expected a list of cases"),
        ("[]", "c.yaml:1: expected a list of cases"),
        ("- {id: a, command: ls, expect: alow}", "c.yaml:1: expect: expected 'allow', 'ask'"),
        ("- {id: a, comand: ls, expect: allow}", "c.yaml:1: a case needs the key 'command'"),
        ("- {id: a, command: ls, expct: allow}", "c.yaml:1: the file needs the key 'expect'"),
        ("- {id: a, command: 5, expect: allow}", "c.yaml:1: command: expected text"),
        ("- {request: GET https://x/, expect: allow}", "c.yaml:1: the file needs the key 'id'"),
        ("- {id: a, request: 'x', expect: allow}", "c.yaml:1: request: expected METHOD URL"),
        ("- {id: a, request: {how: raw}, expect: allow}", "c.yaml:1: "),
        ("- {id: a, command: ls, policy: {}, expect: allow}", "c.yaml:1: a case has no policy"),
        (
            "- {id: a, command: ls, expect: allow}\n- {id: a, command: ls, expect: allow}",
            "c.yaml:2: case id 'a' is used twice",
        ),
    ],
)
def test_a_malformed_case_file_is_refused_with_its_line(text, message):
    """A typo in a case must not make it pass."""
    with pytest.raises(PolicyError) as caught:
        _cases(text)

    assert str(caught.value).startswith(message)
