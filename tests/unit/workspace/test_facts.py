from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.facts import gather_facts

pytestmark = pytest.mark.docker


def test_local_engine_and_plain_directory_have_no_problem(engine, project, tmp_path):
    """The facts of the machine that the tests run on."""
    facts, uid, gid = gather_facts(engine, project, tmp_path)

    assert facts.engine_local
    assert facts.owner == facts.command_uid == uid
    assert gid != 0
    assert facts.overlay_problem == ""


@pytest.mark.parametrize("name", ["a:b", "a,b", "a\\b", "a\nb"])
def test_state_directory_that_mount_options_would_misread_is_a_problem(
    engine, project, tmp_path, name
):
    """The layers' own paths are given as they are."""
    (tmp_path / name).mkdir()

    facts, _, _ = gather_facts(engine, project, tmp_path / name)

    assert "characters" in facts.overlay_problem


def test_state_directory_without_attributes_is_a_problem(engine, project):
    """An opaque directory could not be told from a merged one."""
    facts, _, _ = gather_facts(engine, project, Path("/sys"))

    assert "extended attributes" in facts.overlay_problem


def test_missing_directory_is_an_error(engine, tmp_path):
    """There is nothing to ask about."""
    with pytest.raises(WorkspaceError, match="cannot be used"):
        gather_facts(engine, tmp_path / "none", tmp_path)
