"""Skills from the outside: chosen, narrowing what may be done, in the box, and off again."""

import json

import pytest

from tests.support.world import bash, call

pytestmark = pytest.mark.docker

TIDY = """---
name: tidy
description: Tidies up. Use when asked to tidy.
allowed-tools: [read, bash]
triggers: {words: [tidy, shelves]}
policy:
  commands:
    rules:
      - {id: no-touch, program: touch, effect: deny, reason: tidying makes no files}
---
Follow the rule of the broom in `rule.txt`.
"""


def project_skill(world, text=TIDY, *, vouch=True, name="tidy"):
    folder = world.project / ".glovebox" / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)
    (folder / "rule.txt").write_text("sweep towards the door\n")
    (folder / "run.sh").write_text("#!/bin/sh\necho ran-in-$(hostname >/dev/null && echo box)\n")
    (folder / "run.sh").chmod(0o755)
    if vouch:
        assert world.run("trust", "--vouch").code == 0


def entries(world):
    lines = next(world.state.glob(f"sessions/*/*{world.session()}.jsonl")).read_text().splitlines()
    return [line["body"] for line in map(json.loads, lines) if line["type"] == "skill_change"]


def test_a_named_skill_narrows_tools_and_policy_and_is_recorded(world):
    """Its votes stand beside the policy's, its tools are all there are, and file and chain say so."""
    project_skill(world)
    model = world.script(
        bash("touch x"),
        call("write", path="x", content="y"),
        bash("/skills/tidy/run.sh; cat /skills/tidy/rule.txt; echo z > /skills/tidy/no"),
        {"text": "done"},
    )
    ended = world.run("run", "hi", "-m", model, "--skill", "tidy", "--json")
    touched, wrote, ran = ended.of("tool_end")

    assert ended.code == 0, ended.err
    assert "tidying makes no files" in touched["output"]
    assert "There is no tool 'write'" in wrote["output"]
    assert "ran-in-box\nsweep towards the door" in ran["output"]
    assert "Read-only file system" in ran["output"]
    assert [e["skill"] for e in ended.of("skill_change")] == ["tidy"]
    assert [e["skill"] for e in entries(world)] == ["tidy"]
    assert [body["by"] for body in world.records("skill_change")] == ["user"]


def test_triggers_choose_and_off_does_not(world):
    """Two of its words are enough; ``--skill off`` keeps everything as it was."""
    project_skill(world)
    script = world.script({"text": "done"})
    chosen = world.run("run", "tidy the shelves", "-m", script, "--json")
    off = world.run("run", "tidy the shelves", "-m", script, "--skill", "off", "--json")
    said = world.run("run", "/skill tidy the shelves", "-m", script, "--json")

    assert [(e["by"], e["confidence"]) for e in chosen.of("skill_change")] == [("trigger", 0.75)]
    assert off.of("skill_change") == []
    assert [(e["skill"], e["by"]) for e in said.of("skill_change")] == [("tidy", "user")]
    assert chosen.of("prompt")[0]["layers"]["skill"] > 0
    assert "skill" not in off.of("prompt")[0]["layers"]


def test_an_untrusted_projects_skill_does_not_exist(world):
    """Nobody vouched: it is named with the way to change that, and cannot be used."""
    project_skill(world, vouch=False)
    ended = world.run("run", "hi", "-m", world.script({"text": "done"}), "--skill", "tidy")
    listed = world.run("skills", "list")

    assert ended.code == 1
    assert "there is no skill 'tidy'" in ended.err
    assert "glovebox trust --vouch" in listed.err
    assert "tidy" not in listed.out


def test_a_shipped_skill_is_read_by_the_model_and_judged(world):
    """Progressive disclosure: the prompt has a line, the body comes by ``read``."""
    model = world.script(call("read", path="/skills/debug/SKILL.md"), {"text": "done"})
    ended = world.run("run", "hi", "-m", model, "--json")

    assert ended.code == 0, ended.err
    assert "Know the cause first" in ended.of("tool_end")[0]["output"]
    assert ended.of("decision")[0]["effect"] == "allow"


def test_a_resumed_session_keeps_its_skill_until_it_is_taken_off(world):
    """What held goes on to hold; a skill that is gone is no silent loosening."""
    project_skill(world)
    script = world.script({"text": "one"}, {"text": "two"}, {"text": "three"})
    world.run("run", "hi", "-m", script, "--skill", "tidy")
    again = world.run("run", "go on", "--continue", "-m", script, "--json")

    assert [e["skill"] for e in again.of("skill_change")] == ["tidy"]

    for file in (world.project / ".glovebox/skills/tidy").iterdir():
        file.unlink()
    gone = world.run("run", "go on", "--continue", "-m", script)
    off = world.run("run", "go on", "--continue", "-m", script, "--skill", "off", "--json")

    assert gone.code == 1
    assert "--skill off" in gone.err
    assert "box up" not in gone.err
    assert off.code == 0, off.err
    assert [e["skill"] for e in off.of("skill_change")] == [None]


def test_what_policy_hides_does_not_enter_as_a_skills_file(world):
    """By no name: neither where it lies nor where the skill's files are."""
    project_skill(world)
    (world.project / ".glovebox/skills/tidy/server.key").write_text("k3y")
    model = world.script(
        bash("ls /skills/tidy; grep -r k3 /skills/tidy .glovebox/skills/tidy"),
        {"text": "done"},
    )
    ended = world.run("run", "hi", "-m", model, "--json")
    [seen] = ended.of("tool_end")

    assert "rule.txt" in seen["output"]
    assert "k3y" not in seen["output"]
    assert "tidy/server.key: left out: policy hides it" in ended.err


def test_check_tells_file_and_line(world):
    """One broken skill is told of with its line, and does not hide the others."""
    project_skill(world, TIDY.replace("effect: deny", "effect: allow"))
    checked = world.run("skills", "check")
    place = world.project / ".glovebox/skills/tidy/SKILL.md:9"

    assert checked.code == 1
    assert f"error    {place}: commands.rules.effect: allow would loosen" in checked.out
    assert "3 can be used, 1 errors" in checked.out
