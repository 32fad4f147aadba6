"""``glovebox chat`` as a program, with pipes instead of a terminal."""

import json
import subprocess
import sys

import pytest
import yaml

from orchestrator.config.paths import paths_from
from tests.support.workspaces import drop_workspaces, give


@pytest.fixture
def glovebox(tmp_path):
    """Return what runs the command line in a home of its own."""
    env = {
        "HOME": str(tmp_path / "home"),
        "PATH": "/usr/bin:/bin",
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    project = tmp_path / "project"
    for folder in (tmp_path / "home", project):
        folder.mkdir()
    give(project)

    def run(*words, said=""):
        line = [sys.executable, "-m", "orchestrator.cli.main", "chat", "-C", str(project), *words]
        return subprocess.run(
            line, input=said, env=env, capture_output=True, text=True, timeout=120, check=False
        )

    yield run
    drop_workspaces(paths_from(env, tmp_path / "home"))


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.yaml"
    path.write_text(yaml.safe_dump({"version": 1, "turns": [{"text": "one"}, {"text": "two"}]}))
    return f"scripted:{path}"


def test_chat_needs_a_model(glovebox):
    done = glovebox()

    assert (done.returncode, done.stdout) == (2, "")
    assert "chat: no model is chosen" in done.stderr


@pytest.mark.docker
def test_pipes_carry_a_whole_chat(glovebox, script):
    """Answers alone on stdout, the end of stdin leaves."""
    done = glovebox("-m", script, said="first\nsecond\n")

    assert (done.returncode, done.stdout) == (0, "one\ntwo\n")


@pytest.mark.docker
def test_events_are_for_machines(glovebox, script):
    done = glovebox("-m", script, "--json", "first")

    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert events[0]["type"] == "session_start"
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert events[-1]["type"] == "session_end"
