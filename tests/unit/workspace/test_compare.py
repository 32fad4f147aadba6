from orchestrator.workspace.compare import compare
from orchestrator.workspace.node import Node


def file(content: str, mode: int = 0o644) -> Node:
    return Node("file", mode, size=len(content), sha256=content)


DIRECTORY = Node("directory", 0o755)


def kinds(base, box):
    return {change.path: change.kind for change in compare(base, box)}


def test_each_kind_of_difference_has_its_word():
    """Content before mode, type before both."""
    base = {"same": file("a"), "c": file("a"), "m": file("a"), "t": file("a"), "gone": file("q")}
    box = {
        "same": file("a"),
        "c": file("b", 0o755),
        "m": file("a", 0o755),
        "t": Node("symlink", 0o777, target="x"),
        "new": file("n"),
    }

    assert kinds(base, box) == {
        "c": "modified",
        "m": "mode",
        "t": "type",
        "gone": "deleted",
        "new": "added",
    }


def test_new_directory_is_listed_only_when_empty():
    """Directories come with their files."""
    box = {"a": DIRECTORY, "a/b": DIRECTORY, "a/b/f": file("x"), "e": DIRECTORY}

    assert kinds({}, box) == {"a/b/f": "added", "e": "added"}


def test_bits_above_the_permissions_are_no_change():
    """A set-user-id bit alone never reaches the host, so it is no difference."""
    assert kinds({"a": file("x", 0o755)}, {"a": file("x", 0o4755)}) == {}


def test_move_is_found_by_content_and_a_kept_name_goes_first():
    """Of two deleted twins the one with the same name is the origin."""
    base = {"p/x": file("same"), "p/y": file("same")}
    found = {change.path: change for change in compare(base, {"q/y": file("same")})}

    assert found["q/y"].renamed_from == "p/y"
    assert found["p/y"].renamed_to == "q/y"
    assert found["p/x"].renamed_to == ""


def test_empty_files_are_never_moves():
    """Every empty file has the same content."""
    found = compare({"a": file("")}, {"b": file("")})

    assert all(not change.renamed_from and not change.renamed_to for change in found)


def test_unreadable_file_is_a_change():
    """What cannot be read cannot be called equal."""
    trouble = Node("file", 0, trouble="unreadable")

    assert kinds({"a": Node("file", 0)}, {"a": trouble}) == {"a": "modified"}
