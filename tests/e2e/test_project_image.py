"""A project's own image, from the question to the running box."""

import json
import re

import pytest

from tests.support.images import drop_image
from tests.support.world import bash

pytestmark = pytest.mark.docker

DONE = {"text": "done"}


@pytest.fixture
def described(world, image):
    """The project describes an image upon the sandbox image."""
    folder = world.project / ".devcontainer"
    folder.mkdir()
    (folder / "devcontainer.json").write_text(
        """{ // as an editor writes it
        "build": {"dockerfile": "Dockerfile", "context": ".."},
        "containerEnv": {"GREETING": "hi"},
        "postCreateCommand": "echo first > first.txt; echo ran first",
        }"""
    )
    (folder / "Dockerfile").write_text(f"FROM {image}\nCOPY notes.txt /opt/\nRUN id -u > /opt/by\n")
    return world


def test_project_image_from_question_to_box(described, engine):
    """Not used before the answer; then built once, with variables and a first command on record."""
    model = described.script(bash("cat /opt/by /opt/notes.txt first.txt; echo $GREETING"), DONE)
    before = described.run("run", "x", "-m", model, "--json")
    assert "not used, this project is not trusted" in before.err
    assert "No such file" in before.of("tool_end")[0]["output"]

    digest = re.search("sha256:[0-9a-f]{64}", described.run("trust").err)[0]
    assert described.run("trust", "--yes", digest).code == 0
    name = f"glovebox/project:{digest[7:19]}"
    try:
        ended = described.run("run", "x", "-m", model, "--json")
        second = described.run("run", "x", "-m", model, "--json")
        layer = engine.api.inspect_image(name)["Id"]
    finally:
        drop_image(engine, name)

    first, command = ended.of("tool_end")
    assert first["output"] == "ran first"
    assert command["output"] == "0\none\ntwo\nfirst\nhi"
    start = ended.of("session_start")[0]
    assert start["workspace"]["project_image"] == {
        "file": ".devcontainer/Dockerfile",
        "digest": digest,
        "used": "yes",
    }
    assert start["posture"]["facts"]["named_image"] == name
    assert start["image"] == start["posture"]["facts"]["named_image_digest"] == layer
    log = (described.state / "audit" / f"{start['session']}.jsonl").read_text().splitlines()
    assert any('"project_image"' in line and digest in line for line in log)
    assert any("echo ran first" in json.dumps(json.loads(line)) for line in log)
    assert "building" in ended.err
    assert "building" not in second.err


def test_closed_policy_uses_nothing_of_it(described):
    """Even where the project is trusted."""
    model = described.script(bash("cat /opt/by"), DONE)
    digest = re.search("sha256:[0-9a-f]{64}", described.run("trust").err)[0]
    described.run("trust", "--yes", digest)

    ended = described.run("run", "x", "-m", model, "--json", "--policy", "untrusted-repo")

    assert "policy untrusted-repo denies it" in ended.err
    assert "No such file" in ended.of("tool_end")[0]["output"]
    assert ended.of("tool_end")[0]["name"] == "bash"
