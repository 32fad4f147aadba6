"""What a session brings along, before anything is made."""

from dataclasses import replace

import anyio
import pytest

from orchestrator.config.paths import Paths
from orchestrator.errors import SkillError, UsageError
from orchestrator.harness.options import RunOptions
from orchestrator.harness.skills.opening import bring_skills, with_skills


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


@pytest.mark.parametrize(
    ("prompt", "skill", "left"),
    [
        ("/skill review my diff", "review", "my diff"),
        ("/skill off do it", "off", "do it"),
        ("do it", None, "do it"),
        (None, None, None),
    ],
)
def test_what_is_said_outright_counts_as_the_flag(bring, tmp_path, prompt, skill, left):
    brought = bring(prompt)

    assert (brought.options.skill, brought.options.prompt) == (skill, left)
    assert not (tmp_path / "state").exists()
    anyio.run(brought.shelve)
    assert (brought.options.skill_files / "review/SKILL.md").is_file()


def test_a_box_that_is_made_ahead_has_the_files_that_a_session_brings(bring, tmp_path):
    """Else no warm box would ever fit."""
    session = bring("x").options
    ahead = with_skills(
        replace(session, skill_files=None), Paths(tmp_path / "state", tmp_path / "config")
    )

    assert ahead == session
    assert (ahead.skill_files / "debug/SKILL.md").is_file()


def test_what_cannot_be_used_ends_before_anything_is_made(bring, tmp_path):
    with pytest.raises(SkillError, match="did you mean review"):
        bring("x", skill="reveiw")
    with pytest.raises(UsageError, match="what to do after it"):
        bring("/skill review")

    assert not (tmp_path / "state").exists()


def test_what_was_left_out_is_told_without_controls(bring, tmp_path):
    folder = tmp_path / "config/skills/bad\x1b[2J"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: bad\n---\nx")
    bring("x")

    assert bring.notes == [r"skills: 1 cannot be used (bad\x1b[2J): run `glovebox skills check`"]
