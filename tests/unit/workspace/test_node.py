import os
from pathlib import Path

from orchestrator.workspace.node import (
    Change,
    ChangeSet,
    Limits,
    Node,
    Signature,
    encode_change,
    fingerprint,
    is_git_internal,
    node_type,
    signature,
)


def test_git_is_recognised_by_component_and_in_any_case():
    """.gitignore is a file like any other; a nested .GIT is not."""
    assert is_git_internal(".git/config")
    assert is_git_internal("a/.GIT")
    assert not is_git_internal(".gitignore")
    assert not is_git_internal("a/.git-x/b")


def test_encoded_change_leaves_empty_fields_out():
    """The JSON form says what is there and no more."""
    change = Change("a", "added", None, Node("symlink", 0o777, target="b"), refused="no")

    assert encode_change(change) == {
        "path": "a",
        "kind": "added",
        "new": {"type": "symlink", "mode": "0777", "size": 0, "target": "b"},
        "refused": "no",
    }


def test_signature_survives_a_rename_and_nothing_else(tmp_path):
    """The change time moves with a rename; size, times of writing and inode do not."""
    path = tmp_path / "a"
    path.write_text("x")
    before = signature(path.stat())
    path.rename(tmp_path / "b")
    moved = signature((tmp_path / "b").stat())
    (tmp_path / "b").write_text("xy")

    assert before.survived_rename(moved)
    assert not before.survived_rename(signature((tmp_path / "b").stat()))
    assert not before.survived_rename(Signature(0, *list(vars_of(moved))[1:]))


def vars_of(found: Signature) -> tuple[int, ...]:
    return (found.inode, found.mode, found.size, found.mtime_ns, found.ctime_ns)


def test_fingerprints_of_different_kinds_differ():
    """A link to x is not a directory, and a file that was not read has none."""
    kinds = [Node("symlink", 0, target="x"), Node("directory", 0), Node("file", 0, sha256="x")]

    assert len({fingerprint(node) for node in kinds}) == 3
    assert fingerprint(Node("file", 0)) == ""


def test_directory_is_entered_only_while_its_content_can_be_named():
    """Depth and length are both bounded."""
    limits = Limits(depth=3, path_bytes=300)

    assert limits.may_enter("a/b")
    assert not limits.may_enter("a/b/c")
    assert not limits.may_enter("x" * 50)


def test_change_set_is_empty_only_without_any_change():
    """Changes inside .git alone are something to tell of."""
    assert not ChangeSet("0" * 12, "copy", "/x")
    assert ChangeSet("0" * 12, "copy", "/x", inside_git=1)


def test_type_of_every_kind_of_name(tmp_path):
    """A mode's type is told in our words."""
    os.mkfifo(tmp_path / "f")

    assert node_type((tmp_path / "f").stat().st_mode) == "fifo"
    assert node_type(tmp_path.stat().st_mode) == "directory"
    assert node_type(Path("/dev/null").stat().st_mode) == "device"
