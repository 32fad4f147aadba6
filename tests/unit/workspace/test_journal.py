import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.journal import (
    Journal,
    Step,
    drop_journal,
    in_phase,
    read_journal,
    write_journal,
)
from orchestrator.workspace.node import Node, Outcome, Signature

JOURNAL = Journal(
    directory="/x\udcff",
    inode=5,
    staging=".glovebox-apply-1",
    owner=(1, 2),
    phase="committing",
    steps=(
        Step(
            "replace",
            "a\n",
            slot="1",
            staged=Signature(9, 8, 7, 6, 5),
            seen=Signature(1, 2, 3, 4, 5),
        ),
        Step("mkdir", "d", 0o755),
    ),
    outcome=Outcome(
        now={"a\n": Node("file", 0o644, size=1, sha256="x"), "gone": None},
        partial=frozenset({"a\n"}),
        merged={"m": Node("file", 0o644, size=2, sha256="y")},
    ),
)


def test_journal_comes_back_as_it_was_written(tmp_path):
    """Every field, names of any bytes, and nothing where none was written."""
    assert read_journal(tmp_path) is None
    write_journal(tmp_path, JOURNAL)
    assert read_journal(tmp_path) == JOURNAL
    write_journal(tmp_path, in_phase(JOURNAL, "done"))
    assert read_journal(tmp_path).phase == "done"
    drop_journal(tmp_path)
    assert read_journal(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "{}", '{"steps": 1}', "[]"])
def test_broken_journal_is_an_error_and_not_a_missing_one(tmp_path, text):
    """What may still have to be undone is never forgotten."""
    (tmp_path / "apply.json").write_text(text)

    with pytest.raises(WorkspaceError, match="journal of an apply"):
        read_journal(tmp_path)
