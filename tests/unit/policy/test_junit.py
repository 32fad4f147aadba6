"""Case reports as CI systems read them."""

from xml.etree import ElementTree as ET

from orchestrator.policy.cases import CaseReport, Failure
from orchestrator.policy.junit import junit_xml

FAILED = Failure("b\x00<&>", "ask", "allow", "r", "because \x1b[2J")


def test_report_is_junit():
    """One suite a file; what failed says what was decided."""
    report = CaseReport(1, (FAILED,), ("a", "b\x00<&>"))
    whole = ET.fromstring(junit_xml({"cases.yaml": report}))
    (suite,) = whole

    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == (
        "cases.yaml",
        "2",
        "1",
    )
    assert [item.get("name") for item in suite] == ["a", "b\ufffd<&>"]
    assert suite[1][0].get("message") == "expected ask, got allow by r"
    assert suite[1][0].text == "because \ufffd[2J"
    assert len(suite[0]) == 0
