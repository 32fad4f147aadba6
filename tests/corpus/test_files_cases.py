"""Every case of the file corpus has its test; the export cases are the workspace's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

HERE = Path(__file__).parent
CASES = yaml.safe_load((HERE.parent / "cases" / "files.yaml").read_text())
IDS = [case["id"] for case in CASES if not case["id"].startswith("files-export-")]
SOURCES = "\n".join(path.read_text() for path in sorted(HERE.glob("test_files_*_cases.py")))
NAMES = re.findall(r"^def test_(files_\w+?_\d\d)_\w+\(", SOURCES, re.MULTILINE)


@pytest.mark.parametrize("case", IDS)
def test_case_has_a_test_of_its_own(case: str) -> None:
    """A case added to the corpus fails until somebody has written its test."""
    assert NAMES.count(case.replace("-", "_")) == 1


def test_no_test_is_for_a_case_that_is_gone() -> None:
    """Names and corpus agree both ways."""
    assert {name.replace("_", "-") for name in NAMES} - {case["id"] for case in CASES} == set()
