"""Which places are read: the user's always, a project's only where a person vouches for it."""

import os

import pytest

from orchestrator.config.paths import Paths
from orchestrator.errors import SkillError
from orchestrator.harness.skills.finding import check_folder, find_skills
from orchestrator.harness.skills.shelf import KEPT_S, shelve
from orchestrator.harness.skills.voting import skill_layers
from orchestrator.harness.trust import TrustStore
from orchestrator.skills.active import activate
from orchestrator.tools.registry import BUILTIN_NAMES


@pytest.fixture
def place(tmp_path):
    """A home, a configuration and a project below a repository's root."""
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "repo/part").mkdir()
    return tmp_path


@pytest.fixture
def paths(place):
    return Paths(place / "state", place / "config")


def put(folder, name, *more):
    (folder / name).mkdir(parents=True, exist_ok=True)
    lines = ["---", f"name: {name}", f"description: {folder}", *more, "---", "Sweep."]
    (folder / name / "SKILL.md").write_text("\n".join(lines))


def test_the_nearest_that_a_person_vouches_for_wins(place, paths):
    """Shipped, the user's two folders, the repository's root, the directory; each replaces the one before."""
    folders = [
        place / "home/.agents/skills",
        place / "config/skills",
        place / "repo/.agents/skills",
        place / "repo/.glovebox/skills",
        place / "repo/part/.agents/skills",
    ]
    found = []
    for folder in folders:
        put(folder, "debug")
        here = find_skills(place / "repo/part", paths, home=place / "home")
        found.append(here.get("debug").description)
    trust = TrustStore(paths)
    for project in ("repo", "repo/part"):
        trust.vouch(place / project, yes=True, by="flag")
        here = find_skills(place / "repo/part", paths, home=place / "home")
        found.append(here.get("debug").description)
    trust.vouch(place / "repo/part", yes=False, by="flag")
    here = find_skills(place / "repo/part", paths, home=place / "home")

    assert found == [str(folders[at]) for at in (0, 1, 1, 1, 1, 3, 4)]
    assert here.get("debug").description == str(folders[3])
    assert any("nobody vouches" in line and "repo/part/" in line for line in here.warnings)


def test_a_linked_folder_of_a_project_is_left_out(place, paths):
    put(place / "elsewhere/skills", "tidy")
    (place / "repo/.glovebox").symlink_to(place / "elsewhere")
    TrustStore(paths).vouch(place / "repo", yes=True, by="flag")
    found = find_skills(place / "repo", paths, home=place / "home")

    assert "tidy" not in found.skills
    assert any("symbolic link" in line for line in found.warnings)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["policy:", "  tools:", "    bash: allow"], ":6: tools.bash: allow would loosen"),
        (["policy:", "  files:", "    write:", "      default: allow"], ":7: files.write.default"),
        (["policy:", "  tools:", "    bash: maybe"], ":6: tools.bash: expected"),
        (["policy:", "  commands:", "    rulez: []"], ":6: unknown key 'rulez'"),
    ],
)
def test_a_skill_that_would_loosen_is_none(place, paths, lines, says):
    """With the line in its own file."""
    put(place / "config/skills", "tidy", *lines)
    found = find_skills(place / "repo", paths, home=place / "home")

    assert "tidy" not in found.skills
    assert f"tidy/SKILL.md{says}" in found.errors[0]
    with pytest.raises(SkillError, match=r"would loosen|expected|unknown"):
        found.get("tidy")


def test_closed_tools_are_votes_too(place, paths):
    put(place / "config/skills", "tidy", "allowed-tools: read")
    skill = find_skills(place / "repo", paths, home=place / "home").get("tidy")
    [layer] = skill_layers(activate(skill, tools=("read", "bash"), known=BUILTIN_NAMES))

    assert layer.tool_votes("bash") == [("bash", "deny")]
    assert layer.tool_votes("read") == []


def test_check_of_a_folder_tells_of_it_alone(place):
    put(place / "a", "good")
    put(place / "a", "bad", "thinking: hard")
    one, all_of_them = check_folder(place / "a/good"), check_folder(place / "a")

    assert (list(one.skills), one.errors) == (["good"], ())
    assert (list(all_of_them.skills), len(all_of_them.errors)) == (["good"], 1)


def test_the_shelf_is_the_same_for_the_same_skills(place, paths):
    """Modes of a snapshot are the box's to read; old ones go, the one in use stays."""
    put(place / "config/skills", "tidy")
    (place / "config/skills/tidy/run.sh").write_text("x")
    (place / "config/skills/tidy/run.sh").chmod(0o700)
    first = shelve(find_skills(place / "repo", paths, home=place / "home"), paths)
    again = shelve(find_skills(place / "repo", paths, home=place / "home"), paths)
    (place / "config/skills/tidy/run.sh").write_text("y")
    other = shelve(find_skills(place / "repo", paths, home=place / "home"), paths)

    assert first == again != other
    assert (first / "tidy/run.sh").stat().st_mode & 0o777 == 0o755
    assert (first / "tidy/run.sh").read_text() == "x"
    assert (first / "debug/references/hard-cases.md").stat().st_mode & 0o777 == 0o644
    old = first.stat().st_mtime - KEPT_S - 10
    os.utime(first, (old, old))
    shelve(find_skills(place / "repo", paths, home=place / "home"), paths)
    assert (first.exists(), other.exists()) == (False, True)
