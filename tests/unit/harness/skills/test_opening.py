"""What a session brings along, before anything is made."""

from dataclasses import replace

import anyio
import pytest

from orchestrator.config.paths import Paths
from orchestrator.errors import SkillError
from orchestrator.harness.options import RunOptions
from orchestrator.harness.skills.opening import bring_skills, with_skills
from tests.support.shipped import shipped


@pytest.fixture
def bring(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    notes = []

    def run(prompt, **more):
        options = RunOptions(prompt, tmp_path / "project", "m", **more)

        async def main():
            return await bring_skills(
                options, Paths(tmp_path / "state", tmp_path / "config"), note=notes.append
            )

        return anyio.run(main)

    run.notes = notes
    return run


def test_files_are_there_only_once_they_are_shelved(bring, tmp_path):
    """What is said is the command line's to understand."""
    brought = bring("/skill review my diff")

    assert (brought.options.skill, brought.options.prompt) == (None, "/skill review my diff")
    assert not (tmp_path / "state").exists()
    anyio.run(brought.shelve)
    assert (brought.options.skill_files / "review/SKILL.md").is_file()


def test_a_box_that_is_made_ahead_has_the_files_that_a_session_brings(bring, tmp_path):
    """Else no warm box would ever fit."""
    session = bring("x").options
    paths = Paths(tmp_path / "state", tmp_path / "config")
    ahead = with_skills(replace(session, skill_files=None), paths, policy=shipped("default"))

    assert ahead == session
    assert (ahead.skill_files / "debug/SKILL.md").is_file()


def test_what_cannot_be_used_ends_before_anything_is_made(bring, tmp_path):
    with pytest.raises(SkillError, match="did you mean review"):
        bring("x", skill="reveiw")

    assert not (tmp_path / "state").exists()


def test_what_was_left_out_is_told_without_controls(bring, tmp_path):
    folder = tmp_path / "config/skills/bad\x1b[2J"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: bad\n---\nx")
    bring("x")

    assert bring.notes == [r"skills: 1 cannot be used (bad\x1b[2J): run `glovebox skills check`"]
