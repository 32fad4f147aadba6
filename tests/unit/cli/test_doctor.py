import io
import json
import os
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from orchestrator.cli.doctor import findings_table
from orchestrator.harness.doctor import Finding
from tests.support import warm


def doctor(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command in its own process, as a person does."""
    return warm.run(["doctor", *arguments], env={**os.environ, **environ}, cwd=Path.cwd())


def drawn(*findings: Finding) -> str:
    page = io.StringIO()
    Console(file=page, width=100).print(findings_table(findings))
    return page.getvalue()


def test_missing_engine_is_reported_in_full(tmp_path):
    """Without an engine the report still comes, on stdout, and the exit code is 5."""
    result = doctor("--json", DOCKER_HOST=f"unix://{tmp_path}/none.sock", HOME=str(tmp_path))
    report = json.loads(result.stdout)
    checks = {check["name"]: check for check in report["checks"]}

    assert (result.returncode, report["ok"]) == (5, False)
    assert checks["engine"]["status"] == "fail"
    assert "setup-engine.sh" in checks["engine"]["mend"]
    assert checks["python"]["status"] == "ok"


def test_open_state_folder_is_a_failure_with_code(tmp_path):
    """A folder that others can read is reported with the command that closes it."""
    state = tmp_path / "state"
    state.mkdir()
    state.chmod(0o755)
    result = doctor("--json", GLOVEBOX_STATE=str(state), DOCKER_HOST=f"unix://{tmp_path}/none")
    checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}

    assert checks["state"]["status"] == "fail"
    assert checks["state"]["mend"] == f"run: chmod 700 {state}"


@pytest.mark.docker
def test_running_engine_passes_its_checks(tmp_path):
    """On a machine with an engine that can hold limits, every engine check is fine."""
    report = json.loads(doctor("--json", GLOVEBOX_STATE=str(tmp_path / "state")).stdout)
    engine = [
        check for check in report["checks"] if check["name"] in {"engine", "limits", "seccomp"}
    ]

    assert [check["status"] for check in engine] == ["ok", "ok", "ok"]


def test_remedy_stands_beneath_what_was_found():
    """People read what to do right below what is wrong."""
    page = drawn(Finding("image", "fail", "missing", "run `glovebox image build`"))

    assert page.split() == ["fail", "image", "missing", "→", "run", "`glovebox", "image", "build`"]


def test_text_from_an_engine_is_not_markup():
    """What an engine says of itself is printed as it is."""
    assert "[red]20.10[/red]" in drawn(Finding("engine", "ok", "[red]20.10[/red]"))
