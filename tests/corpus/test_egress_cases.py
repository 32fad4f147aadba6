"""The egress corpus, as far as it needs no socket: hosts, ends, addresses, methods and paths."""

import pytest
import yaml

from orchestrator.policy.judge_egress import EgressRules
from orchestrator.policy.load import load_policy
from orchestrator.policy.owned_folder import OwnedFolder
from tests.support.egress_cases import (
    KEY_HEADER,
    SECRET,
    load_egress_cases,
    needs_sockets,
    policy_text,
    requests_of,
    shown,
)

CASES = load_egress_cases()
PURE = [case for case in CASES if not needs_sockets(case)]


@pytest.mark.parametrize("case", PURE, ids=[case["id"] for case in PURE])
def test_the_verdict_is_what_the_case_expects(case, tmp_path):
    """Each thing that the proxy would ask about must be let out, the tunnel first."""
    file = tmp_path / "case.yaml"
    file.write_text(policy_text(case["policy"]))
    policy = load_policy(
        [str(file)], search=tmp_path, user_file=None, system=OwnedFolder(tmp_path / "none")
    )
    rules = EgressRules(policy)

    verdicts = [rules.judge(request) for request in requests_of(case)]
    allowed = all(verdict.decision.effect == "allow" for verdict in verdicts)
    got = ("allow" if allowed else "deny", [verdict.decision.rule for verdict in verdicts])
    assert got[0] == case["expect"], (got, shown(case))


def test_most_of_the_corpus_is_judged_here():
    """The rest is about what comes on the way; every policy of it can be said in our terms."""
    assert len(PURE) * 3 > len(CASES) * 2
    for case in CASES:
        assert policy_text(case["policy"])


@pytest.mark.parametrize(
    ("term", "said"),
    [
        ("https a.example:443 GET, POST /v1/**", {"methods": ["GET", "POST"], "paths": ["/v1/**"]}),
        ("https *.A.example:8000-8002", {"hosts": ["*.a.example"], "ports": [8000, 8001, 8002]}),
        ("http [2001:db8::1]:80", {"hosts": ["2001:db8::1"], "schemes": ["http"]}),
        ("any public http or https host", {"hosts": ["*"], "schemes": ["http", "https"]}),
        ("wss a.example:443 GET /ws", {"websocket": True, "schemes": ["https"]}),
        ("https 10.0.0.5:443 private 10.0.0.0/8", {"private": ["10.0.0.0/8"]}),
        (
            "https a.example:443 POST /v1/x with injected key only",
            {"inject": {"secret": SECRET, "header": KEY_HEADER}},
        ),
    ],
)
def test_plain_terms_become_rules(term, said):
    """Also those that this half of the corpus has not got."""
    (rule,) = yaml.safe_load(policy_text({"allow": [term]}))["network"]["rules"]

    assert {key: rule.get(key) for key in said} == said


@pytest.mark.parametrize(
    "term", ["https *.com:443", "https 169.254.169.254:80", "https 10.0.0.5:443"]
)
def test_what_no_policy_can_say_is_left_out(term):
    """It is refused when a policy loads, so nothing is let out by it."""
    assert yaml.safe_load(policy_text({"allow": [term]}))["network"]["rules"] == []


def test_a_term_that_is_not_understood_is_an_error():
    """Else a case would pass by saying less."""
    with pytest.raises(ValueError, match="not understood"):
        policy_text({"allow": ["https a.example:443 sometimes"]})
