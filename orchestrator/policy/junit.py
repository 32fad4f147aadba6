"""Case reports as JUnit XML, the form in which CI systems show tests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree as ET

from orchestrator.policy.cases import CaseReport

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(reports: Mapping[str, CaseReport]) -> bytes:
    """Return one test suite a case file, by the file's name; a failure says what was decided."""
    whole = ET.Element("testsuites", name="glovebox policy test")
    for file, report in reports.items():
        failed = {failure.id: failure for failure in report.failed}
        suite = ET.SubElement(
            whole,
            "testsuite",
            name=_clean(file),
            tests=str(len(report.ids)),
            failures=str(len(failed)),
        )
        for case in report.ids:
            item = ET.SubElement(suite, "testcase", classname=_clean(file), name=_clean(case))
            if case in failed:
                told = failed[case]
                by = f" by {told.rule}" if told.rule else ""
                words = f"expected {told.expected}, got {told.got}{by}"
                ET.SubElement(item, "failure", message=_clean(words)).text = _clean(told.reason)
    return bytes(ET.tostring(whole, encoding="utf-8", xml_declaration=True))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
