import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.node import Change, ChangeSet, Node
from orchestrator.workspace.plan import Selection, make_plan

FILE = Node("file", 0o644)
DIRECTORY = Node("directory", 0o755)


def added(path: str, **more) -> Change:
    return Change(path, "added", None, FILE, **more)


def deleted(path: str, node: Node = FILE, **more) -> Change:
    return Change(path, "deleted", node, None, **more)


def planned(*changes: Change, **selection):
    plan = make_plan(ChangeSet("0" * 12, "copy", "/x", changes), Selection(**selection))
    return [c.path for c in plan.changes], {item.path: item.reason for item in plan.left}


def test_removals_go_first_and_from_the_bottom_up():
    """A directory is empty when its turn comes, and made before its files."""
    order, _ = planned(
        added("b/c"),
        deleted("d", DIRECTORY),
        deleted("d/e", DIRECTORY),
        deleted("d/e/f"),
        added("a"),
    )

    assert order == ["d/e/f", "d/e", "d", "a", "b/c"]


def test_refused_and_protected_stay_and_are_told():
    """Both with the reason; only one of them can be asked for."""
    changes = added("r", refused="because"), added("p", protected=True), added("ok")

    assert planned(*changes)[0] == ["ok"]
    assert planned(*changes)[1].keys() == {"r", "p"}
    assert planned(*changes, include_protected=True)[0] == ["ok", "p"]


def test_conflict_stops_everything_unless_it_may_be_skipped():
    """Fail closed; the message names the paths."""
    changes = added("c", conflict="moved on"), added("ok")

    with pytest.raises(WorkspaceError, match="'c': moved on"):
        planned(*changes)
    assert planned(*changes, skip_conflicts=True) == (["ok"], {"c": "moved on"})


def test_conflict_of_an_unselected_path_does_not_matter():
    """Only what is asked for can stop it."""
    assert planned(added("c", conflict="x"), added("ok"), globs=("ok",))[0] == ["ok"]


def test_old_half_of_a_move_stays_when_the_new_half_does():
    """Else the content would be nowhere on the host."""
    order, left = planned(
        deleted("a", renamed_to="p"), added("p", renamed_from="a", protected=True)
    )

    assert order == []
    assert "moved to 'p'" in left["a"]


def test_directory_stays_while_something_in_it_does():
    """A removal that could not succeed is not begun."""
    order, left = planned(deleted("d", DIRECTORY), deleted("d/x", protected=True), deleted("d/y"))

    assert order == ["d/y"]
    assert "not empty" in left["d"]


def test_file_below_a_refused_change_of_type_stays():
    """A file cannot be put below what is no directory."""
    turned = Change("t", "type", FILE, DIRECTORY, protected=True)
    order, left = planned(turned, added("t/in"))

    assert order == []
    assert "'t' above it" in left["t/in"]


@pytest.mark.parametrize(
    ("glob", "chosen"),
    [
        ("*.py", ["a.py", "s/b.py"]),
        ("s", ["s/b.py", "s/c"]),
        ("./s/", ["s/b.py", "s/c"]),
        ("s/*", ["s/b.py", "s/c"]),
        ("a.py", ["a.py"]),
    ],
)
def test_globs_choose_as_a_person_expects(glob, chosen):
    """A bare name at any depth, a path from the top, a directory with its content."""
    assert planned(added("a.py"), added("s/b.py"), added("s/c"), globs=(glob,))[0] == chosen


def test_glob_that_matches_nothing_is_an_error():
    """A typing mistake must not look like success."""
    with pytest.raises(WorkspaceError, match="no change matches"):
        planned(added("a"), globs=("b",))
