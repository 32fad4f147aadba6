"""What policy hides of a project does not enter the box as a skill's file."""

import pytest

from orchestrator.errors import SkillError
from orchestrator.harness.options import RunOptions
from orchestrator.harness.skills.hiding import without_hidden
from orchestrator.skills.discover import Root, discover
from orchestrator.tools.registry import BUILTIN_NAMES
from tests.support.shipped import shipped

POLICY = shipped("default")


def put(folder, *files):
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {folder.name}\ndescription: x\n---\nSweep.\n")
    for name in files:
        (folder / name).write_text("secret")


@pytest.fixture
def shown(tmp_path):
    """Give what is left of a project's skill and of the user's, for options and a policy."""
    put(tmp_path / "project/.glovebox/skills/tidy", "server.key", "run.sh")
    put(tmp_path / "config/skills/mine", "server.key")
    roots = [
        Root(tmp_path / "config/skills", "user"),
        Root(tmp_path / "project/.glovebox/skills", "project"),
    ]
    catalogue = discover(roots, tools=BUILTIN_NAMES)

    def run(policy=POLICY, **options):
        below = options.pop("below", "")
        asked = RunOptions("x", tmp_path / "project" / below, "m", **options)
        return catalogue, *without_hidden(catalogue, asked, policy)

    return run


@pytest.mark.parametrize("below", ["", "part"])
def test_hidden_files_of_a_projects_skill_are_left_out_and_told(shown, below):
    """Also where the skill is the repository's and the work a part of it; the user's own stay."""
    before, after, told = shown(below=below)

    assert [file.path for file in after.get("tidy").files] == ["SKILL.md", "run.sh"]
    assert after.get("tidy").digest != before.get("tidy").digest
    assert after.digest != before.digest
    assert after.get("mine") == before.get("mine")
    [line] = told
    assert line.endswith("tidy/server.key: left out: policy hides it")


def test_a_hidden_skill_is_none(tmp_path, shown):
    """With the reason, for whoever asks for it."""
    file = tmp_path / "hiding.yaml"
    file.write_text(
        "version: 1\nname: hiding\nextends: [default]\n"
        "workspace: {hidden: [.glovebox/skills/tidy/SKILL.md]}\n"
    )
    _, after, _ = shown(shipped(str(file)))

    with pytest.raises(SkillError, match="policy hides it"):
        after.get("tidy")


def test_a_directory_that_does_not_enter_the_box_brings_no_skill(shown):
    _, after, told = shown(workspace="none")

    assert sorted(after.skills) == ["mine"]
    assert "does not enter the box" in told[0]
