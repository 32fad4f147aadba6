from orchestrator.harness.egress.in_force import RulesInForce, gate_error
from orchestrator.schema.ids import digest_of
from tests.support.egress_desk import GET, TUNNEL, Judged, says

ONE, TWO = digest_of(b"1"), digest_of(b"2")


def test_rules_are_asked_each_time():
    """They may know more by then."""
    known = Judged(says("deny"))
    rules = RulesInForce(known, ONE)
    before = rules.ruling(GET).verdict.decision.effect
    known.by = says("allow")

    assert (before, rules.ruling(GET).verdict.decision.effect) == ("deny", "allow")


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

    decision = RulesInForce(Judged(broken), ONE).ruling(TUNNEL).verdict.decision
    assert (decision.effect, decision.rule) == ("deny", "gate-error")
    assert len(decision.reason) < 300
    assert decision == gate_error(ValueError("x" * 1000))


def test_what_a_tunnel_is_read_as_is_said_by_the_rules():
    rules = RulesInForce(Judged(says("deny"), "tcp"), ONE)

    assert rules.tunnel_scheme("a.example", 22) == "tcp"


def test_tunnel_of_which_rules_cannot_tell_must_be_tls():
    class Broken(Judged):
        def tunnel_scheme(self, host, port):
            raise RuntimeError(host, port)

    assert RulesInForce(Broken(says("deny"), "tcp"), ONE).tunnel_scheme("a.example", 22) == "https"
