"""The corpus's cases on protected paths: the box says where a path lands, policy judges that."""

from __future__ import annotations

from pathlib import Path

import pytest
from paths import landing

from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.load import load_policy
from orchestrator.schema.decision import Decision
from orchestrator.schema.request import WriteRequest
from tests.support.boxed_files import BoxedFiles

POLICIES = Path(__file__).parents[2] / "policies"


def judged(path: str) -> Decision:
    policy = load_policy(["default"], search=POLICIES, user_file=None)
    request = WriteRequest(f"/workspace/{path}", "x", resolved=f"/workspace/{path}")
    return evaluate(policy, request, tool="write")


@pytest.mark.parametrize("path", [".git/config", ".git/hooks/pre-commit", "sub/.git/config"])
def test_files_write_07_repository_metadata_is_asked_about(path: str) -> None:
    assert (judged(path).effect, judged(path).unyielding) == ("ask", True)


@pytest.mark.parametrize("path", [".GIT/config", ".Git/hooks/x"])
def test_files_write_08_case_does_not_matter(path: str) -> None:
    assert judged(path).effect == "ask"


@pytest.mark.parametrize(
    "path", [".gitignore", ".gitattributes", ".git-blame-ignore-revs", "a.git/x"]
)
def test_files_write_09_protection_is_by_component(path: str) -> None:
    assert judged(path).effect == "allow"


def test_files_write_12_protection_holds_for_files_to_come(box: BoxedFiles) -> None:
    (box.workdir / "innocent").symlink_to(".vscode")

    assert judged(".vscode/settings.json").effect == "ask"
    landed = landing("innocent/settings.json", box.roots)
    assert landed == f"{box.workdir}/.vscode/settings.json"
