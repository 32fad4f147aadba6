"""``glovebox skills`` from the outside."""

import json

import pytest

import orchestrator.cli.skills  # noqa: F401 - what is under test runs by its name
from tests.support.world import World


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    made.project.mkdir()
    return made


def test_list_shows_what_ships(world):
    """A line each, or JSON with where each is from."""
    listed = world.run("skills", "list")
    rows = json.loads(world.run("skills", "list", "--json").out)

    assert listed.code == 0, listed.err
    assert [line.split()[:2] for line in listed.out.splitlines()] == [
        ["commit-message", "shipped"],
        ["debug", "shipped"],
        ["review", "shipped"],
    ]
    assert rows[2]["forbidden_tools"] == ["write", "edit"]


def test_check_has_an_exit_code_and_escapes(world):
    """0 without a mistake, 1 with one, 2 for no folder."""
    folder = world.root / "skills" / "bad"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text('---\nname: bad\ndescription: x\nthinking: "\\e[2J"\n---\nx\n')
    good = world.run("skills", "check")
    bad = world.run("skills", "check", str(folder))
    as_json = json.loads(world.run("skills", "check", str(folder), "--json").out)

    assert (good.code, good.out) == (0, "3 can be used, 0 errors, 0 warnings\n")
    assert bad.code == 1
    assert f"error    {folder}/SKILL.md:4: thinking: expected one of" in bad.out
    assert "\x1b" not in bad.out
    assert len(as_json["errors"]) == 1
    assert world.run("skills", "check", "nowhere").code == 2


def test_list_marks_what_is_broken(world):
    """No skill is missed in silence, and the reason is one command away."""
    folder = world.root / "config/skills"
    for name, text in {
        "bad": "---\nname: bad\nthinking: hard\n---\nx\n",
        "review": "---\nname: other\ndescription: x\n---\nx\n",
        "loose": "---\nname: loose\ndescription: x\npolicy:\n  tools: {bash: allow}\n---\nx\n",
        "own-fields": "---\nname: own-fields\ndescription: x\ncolor: red\n---\nx\n",
    }.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "SKILL.md").write_text(text)
    listed = world.run("skills", "list")
    rows = {row["name"]: row for row in json.loads(world.run("skills", "list", "--json").out)}

    assert listed.code == 0
    kinds = {line.split()[0]: line.split()[1] for line in listed.out.splitlines()}
    assert kinds["bad"] == kinds["review"] == kinds["loose"] == "broken"
    assert kinds["debug"] == "shipped"
    assert listed.err == "broken skills: run `glovebox skills check`\n"
    assert f"{folder}/loose/SKILL.md:5: tools.bash: allow would loosen" in rows["loose"]["errors"]
    assert (rows["debug"]["errors"], len(rows["bad"]["errors"])) == ([], 2)
    checked = world.run("skills", "check")
    assert checked.code == 1
    assert "own-fields/SKILL.md:4: color means nothing here" in checked.out
