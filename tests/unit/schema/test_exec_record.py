"""What the box tells of a started program."""

import pytest

from orchestrator.schema.exec_record import ExecSeen


@pytest.mark.parametrize(
    ("path", "name"), [("/usr/bin/git", "git"), ("./run.sh", "run.sh"), ("git", "git"), ("", "")]
)
def test_program_is_known_by_the_last_part_of_its_path(path, name):
    """However it is reached; nothing where no path is known."""
    assert ExecSeen(2, 1, path, ()).name == name
