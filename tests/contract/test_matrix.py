"""The table of APIs and behaviours says the truth: each cell has a test, or a reason for none."""

from __future__ import annotations

import subprocess
import sys
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TABLE: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("matrix.yaml").read_text("utf-8")
)
APIS = ("anthropic", "openai-responses", "openai-chat", "gemini")
LOCAL = APIS[:3]
"""What the real local server speaks."""
WANTED = (
    "stream", "tools", "parallel calls", "cancel", "overflow", "429 then success", "cut stream",
    "switch",
)  # fmt: skip


def cases(behaviour: str, peer: str) -> list[str]:
    """Return with what parameters a cell's test must run, as the runner writes them."""
    if peer == "command":
        return [""]
    if peer == "local":
        return [f"[{api}-" if behaviour == "switch" else f"[{api}]" for api in LOCAL]
    if peer == "vendor":
        return [f"[{here}-{there}]" for here, there in product(APIS, repeat=2)]
    if behaviour == "switch":
        return [f"[{here}-{there}]" for here, there in permutations(APIS, 2)]
    return [f"[{api}]" for api in APIS]


@pytest.fixture(scope="module")
def collected() -> str:
    """Every test that the runner finds in the files of the table, one a line."""
    order = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    tests = (test for row in TABLE.values() for test in row.values() if isinstance(test, str))
    files = sorted({test.partition("::")[0] for test in tests})
    found = subprocess.run(
        [*order, *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    return found.stdout


@pytest.mark.parametrize("behaviour", TABLE)
def test_each_cell_has_its_tests(behaviour: str, collected: str) -> None:
    """One for each API, and for each pair of them where it is switched."""
    for peer, test in TABLE[behaviour].items():
        if isinstance(test, dict):
            assert test["reason"]
            continue
        missing = [case for case in cases(behaviour, peer) if f"{test}{case}" not in collected]
        assert missing == [], f"{behaviour} against {peer}: no {test} for {missing}"


def test_each_behaviour_is_shown_against_both_servers() -> None:
    """None is left out, and a mock alone leaves none to a reason."""
    for behaviour in WANTED:
        row = TABLE[behaviour]
        assert isinstance(row["mock"], str)
        assert "local" in row
