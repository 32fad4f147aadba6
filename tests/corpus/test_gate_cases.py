"""The corpus of failing inputs, judged end to end by the shipped default policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.policy.cases import Case, parse_cases, run_cases
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.load import load_policy
from orchestrator.policy.owned_folder import OwnedFolder

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "cases" / "gate.yaml"
CASES = parse_cases(FILE.read_text("utf-8"), file="gate.yaml")


@pytest.fixture(scope="module")
def default() -> EffectivePolicy:
    """The policy a run has when none is named."""
    return load_policy(
        ["default"], search=ROOT / "policies", user_file=None, system=OwnedFolder(ROOT / "none")
    )


def test_the_corpus_is_whole():
    """An emptied file would hold trivially."""
    assert len(CASES) >= 250
    assert {case.expect for case in CASES} == {"allow", "ask", "deny-or-ask"}


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_a_case_gets_its_verdict(case: Case, default: EffectivePolicy):
    """The default policy asks where it must and stays silent where it must."""
    report = run_cases(default, (case,))

    assert report.failed == ()
