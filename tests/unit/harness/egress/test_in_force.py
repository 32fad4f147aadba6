from orchestrator.harness.egress.in_force import KEPT, RulesInForce, gate_error
from orchestrator.schema.ids import digest_of
from tests.support.egress_desk import GET, TUNNEL, says

ONE, TWO = digest_of(b"1"), digest_of(b"2")


def test_verdict_is_asked_for_once():
    asked = []

    def judge(request):
        asked.append(request)
        return says("allow")(request)

    rules = RulesInForce(judge, ONE)
    assert rules.ruling(GET) == rules.ruling(GET)
    assert asked == [GET]


def test_other_rules_hold_at_once_and_have_another_number():
    rules = RulesInForce(says("allow"), ONE)
    before = rules.ruling(GET)
    rules.replace(says("deny"), TWO)

    assert (before.generation, before.verdict.decision.effect) == (1, "allow")
    assert (rules.ruling(GET).generation, rules.digest) == (2, TWO)
    assert rules.ruling(GET).verdict.decision.effect == "deny"


def test_rules_that_fail_refuse():
    def broken(_):
        raise ValueError("x" * 1000)

    decision = RulesInForce(broken, ONE).ruling(TUNNEL).verdict.decision
    assert (decision.effect, decision.rule) == ("deny", "gate-error")
    assert len(decision.reason) < 300
    assert decision == gate_error(ValueError("x" * 1000))


def test_memory_is_bounded():
    rules = RulesInForce(says("allow"), ONE)
    for number in range(KEPT + 10):
        rules.ruling(type(GET)("http", "http", "a.example", 80, "GET", f"/{number}"))

    assert len(rules._kept) <= KEPT
