import pytest

from orchestrator.errors import UsageError, WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.bundle_header import RefusedBranch
from orchestrator.workspace.commit_choice import check_unguarded, choose_branches, left_branches
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


def branch(name):
    return BoxBranch(name, "a" * 40, f"glovebox/s/{name}", (), ())


def test_names_that_one_file_stands_for_stay_unless_one_is_chosen():
    """The others go; two of them together never do."""
    shown = BoxCommits(SessionId("s"), tuple(map(branch, ("MAIN", "main", "x", "X/y", "topic"))))

    assert [one.name for one in choose_branches(shown, ())] == ["topic"]
    assert [one.name for one in left_branches(shown, ())] == ["MAIN", "X/y", "main", "x"]
    assert [one.name for one in choose_branches(shown, ("main", "x"))] == ["main", "x"]
    assert left_branches(shown, ("main", "x")) == ()
    with pytest.raises(UsageError, match="by case only"):
        choose_branches(shown, ("MAIN", "main"))
    with pytest.raises(WorkspaceError, match="none of the box's branches"):
        choose_branches(BoxCommits(SessionId("s"), (branch("a"), branch("A"))), ())


def test_refused_branch_stays_and_the_others_go():
    """Named, it says why it cannot."""
    refused = RefusedBranch("-x", "odd name")
    shown = BoxCommits(SessionId("s"), (PLAIN,), refused=(refused,))

    assert choose_branches(shown, ()) == (PLAIN,)
    assert left_branches(shown, ()) == (refused,)
    assert left_branches(shown, ("main",)) == ()
    with pytest.raises(UsageError, match="odd name"):
        choose_branches(shown, ("-x",))
    with pytest.raises(WorkspaceError, match="odd name"):
        choose_branches(BoxCommits(SessionId("s"), refused=(refused,)), ())
