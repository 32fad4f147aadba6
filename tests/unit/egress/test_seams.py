import pytest

from orchestrator.egress.seams import Admission
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import EgressRequest, EgressVerdict


@pytest.mark.parametrize(("effect", "allowed"), [("allow", True), ("ask", False), ("deny", False)])
def test_only_a_yes_is_allowed(effect, allowed):
    request = EgressRequest("connect", "https", "example.com", 443)
    verdict = EgressVerdict(Decision(effect, "rule", "session", "because"))

    assert Admission(1, request, verdict, generation=1).allowed is allowed
