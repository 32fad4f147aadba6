"""Rows 3 and 36 of the attack table: files that the host obeys, and a repository's own policy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.engine.base_image import ensure_base
from orchestrator.engine.client import connect
from orchestrator.policy.load import load_policy
from tests.support.workspaces import Desk, give, picture, play_box, write

pytestmark = pytest.mark.docker

PLANTED = (
    ".git/hooks/pre-commit", ".git/config", "sub/.git/hooks/post-checkout", ".envrc", "sub/.envrc",
    ".vscode/tasks.json", ".idea/workspace.xml", ".github/workflows/x.yml", ".gitlab-ci.yml",
    ".husky/pre-commit", ".claude/settings.json", ".mcp.json", ".glovebox/policy.yaml", ".npmrc",
    ".devcontainer/devcontainer.json", ".pre-commit-config.yaml", "Jenkinsfile", ".cursor/mcp.json",
    ".VSCODE/tasks.json", ".Git/hooks/pre-push",
)  # fmt: skip
WRITE = (
    "".join(f"mkdir -p $(dirname {p}) && echo evil > {p}\n" for p in PLANTED) + "echo x > plain\n"
)


@pytest.fixture(params=["overlay", "copy", "bind"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    project = tmp_path / "project"
    write(project, {".git/HEAD": "ref: x\n", ".git/config": "mine", ".envrc": "mine", "sub/a": ""})
    give(project)
    with closing(connect()) as engine:
        ensure_base(engine, lambda _: None)
        made = Desk(engine, Paths(tmp_path / "state", tmp_path / "config"), project, request.param)
        yield made
        made.clean()


def test_what_the_host_obeys_is_not_planted_unseen(desk: Desk) -> None:
    """By the shipped policy: held or told of in bind mode, flagged and left in the others."""
    policy = load_policy(("default",), search=asset("policies"), user_file=None)
    workspace, prepared = desk.begin(protected=policy.workspace.protected)
    play_box(desk.engine, prepared, WRITE + "true")

    changes = desk.look(workspace)
    there = {p for p in PLANTED if (desk.project / p).exists()} - {".git/config", ".envrc"}
    told = " ".join(changes.notes)

    assert (desk.project / ".git/config").read_text() == "mine"
    assert (desk.project / ".envrc").read_text() == "mine"
    if desk.mode == "bind":
        assert (desk.project / "plain").exists()
        held = {".git/hooks/pre-commit", ".vscode/tasks.json", ".github/workflows/x.yml"}
        assert not held & there
        assert {p for p in there if p.split("/")[0] not in told and p not in told} == set()
        return
    assert there == set()
    applied = desk.take(workspace)
    assert [change.path for change in applied.changes] == ["plain"]
    assert {p for p in PLANTED if (desk.project / p).exists()} == {".git/config", ".envrc"}


def test_policy_of_the_repository_has_no_say(tmp_path: Path) -> None:
    """Whatever it allows itself, what the run is under is the same."""
    project = tmp_path / "project"
    evil = {"version": 1, "name": "default", "commands": {"default": "allow"}, "extends": ["yolo"]}
    before = load_policy(("default",), search=asset("policies"), user_file=None)
    for name in (".glovebox/policy.yaml", ".glovebox/config.yaml", "policies/default.yaml"):
        write(project, {name: yaml.safe_dump(evil)})
    seen = picture(project)

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        after = load_policy(("default",), search=asset("policies"), user_file=None)

    assert after.digest == before.digest
    assert picture(project) == seen
