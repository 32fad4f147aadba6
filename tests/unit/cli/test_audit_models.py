"""Which models the box asked, for people."""

from orchestrator.cli.audit_models import models_report
from orchestrator.harness.box_models.summary import ModelRow


def test_report_tells_tokens_money_and_who_asked():
    """What is guessed or not known is called so."""
    used = ModelRow("allow", "anthropic/claude", "models.allow", "", 3, 1500, 0.25, 1, 2)
    used.programs.append("/usr/bin/pi")
    used.problems.append("the client went away")
    refused = ModelRow("deny", "gpt", "models.allow", "not allowed", 10)

    assert list(models_report([used, refused])) == [
        "models: 3 calls, 10 refused; 1,500 tokens, $0.2500 and 1 calls of unknown price",
        (
            "     3 x  allow anthropic/claude  by models.allow, 1,500 tokens, $0.2500 and 1 calls of "
            "unknown price, 2 estimated"
        ),
        "          asked by /usr/bin/pi (as the box says)",
        "          ended early: the client went away",
        "    10 x  deny gpt  by models.allow",
        "          not allowed",
    ]


def test_box_that_asked_nothing_is_not_told_of():
    """Most sessions have no models in their box."""
    assert list(models_report([])) == []
