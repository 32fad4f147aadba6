import pytest

from orchestrator.errors import UsageError, WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.commit_choice import check_unguarded, choose_branches
from orchestrator.workspace.commit_set import BoxBranch, BoxCommits, CommitFile

PLAIN = BoxBranch("main", "a" * 40, "glovebox/s/main", (), (CommitFile("a"),))
GUARDED = BoxBranch(
    "topic", "b" * 40, "glovebox/s/topic", (), (CommitFile(".envrc", "policy protects it"),)
)
BOTH = BoxCommits(SessionId("s"), (PLAIN, GUARDED))


def test_no_name_means_all_and_names_choose():
    """Each once, in the order given."""
    assert choose_branches(BOTH, ()) == (PLAIN, GUARDED)
    assert choose_branches(BOTH, ("topic", "topic")) == (GUARDED,)


def test_what_cannot_be_had_is_an_error():
    """An unknown name lists the others; trouble is told; nothing is not something."""
    with pytest.raises(UsageError, match="nope") as caught:
        choose_branches(BOTH, ("nope",))
    assert "main, topic" in caught.value.hint
    with pytest.raises(WorkspaceError, match="refused"):
        choose_branches(BoxCommits(SessionId("s"), trouble="refused: x"), ())
    with pytest.raises(WorkspaceError, match="no commits"):
        choose_branches(BoxCommits(SessionId("s")), ())


def test_guarded_files_want_more_than_a_choice():
    """Only of the branches that were chosen."""
    check_unguarded((PLAIN,))
    with pytest.raises(WorkspaceError, match=r"'\.envrc': policy protects it"):
        check_unguarded((PLAIN, GUARDED))
