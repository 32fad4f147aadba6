import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.contents import plain_node, read_node
from orchestrator.workspace.manifest import (
    Manifest,
    Original,
    load_manifest,
    save_manifest,
    update_manifest,
)
from orchestrator.workspace.node import Change, Node, signature
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import write


def original(root, path):
    with open_tree(root) as tree:
        info = tree.lstat(path)
        node = plain_node(tree, path, info)
        node = read_node(tree, path, node) if node.type == "file" else node
        return Original(path, node, signature(info))


def test_manifest_comes_back_as_it_was_saved(tmp_path):
    """Names that are no UTF-8 too."""
    items = [
        Original("a\udcff", Node("symlink", 0o777, target="\u202e"), original_signature(tmp_path))
    ]
    save_manifest(tmp_path / "m", items)

    assert load_manifest(tmp_path / "m") == {"a\udcff": items[0]}


@pytest.fixture
def three(tmp_path):
    """A manifest of a, b and c, and an original to replace one with."""
    write(tmp_path / "root", {"a": "1", "b": "2", "c": "3", "d": "4"})
    save_manifest(tmp_path / "m", [original(tmp_path / "root", name) for name in "abc"])
    return tmp_path / "m", original(tmp_path / "root", "d")


def test_update_replaces_adds_and_removes(three):
    """The last word on a path counts, in whatever update."""
    path, new = three
    before = load_manifest(path)

    update_manifest(path, {"a": None, "b": new, "d": new})
    update_manifest(path, {"d": None, "a": before["a"]})

    found = load_manifest(path)
    assert set(found) == {"a", "b", "c"}
    assert found["a"] == before["a"]
    assert found["b"].node == new.node


@pytest.mark.parametrize("cut", [1, 5, 6, 7, 40])
def test_update_that_was_cut_off_counts_for_nothing(three, cut):
    """The apply that wrote it is finished again; a later update does not bring the rest back."""
    path, new = three
    before = load_manifest(path)
    update_manifest(path, {"a": None, "d": new})
    path.write_bytes(path.read_bytes()[:-cut])

    assert load_manifest(path) == before
    update_manifest(path, {"b": None})
    assert set(load_manifest(path)) == {"a", "c"}


def original_signature(path):
    return signature(path.stat())


@pytest.mark.parametrize("text", ["", '{"path": "a"}\n', "nonsense\n", '[]\n"end"\n'])
def test_cut_or_broken_manifest_is_an_error(tmp_path, text):
    """A shorter list would make files look new, or deleted."""
    (tmp_path / "m").write_text(text)

    with pytest.raises(WorkspaceError, match="record of the copied files"):
        load_manifest(tmp_path / "m")


def test_host_file_is_unchanged_by_state_or_by_content(tmp_path):
    """A touch is no change; another content or mode is."""
    write(tmp_path, {"f": "1"})
    manifest = Manifest({"f": original(tmp_path, "f")})
    change = Change("f", "modified", None, None)

    with open_tree(tmp_path) as tree:
        assert manifest.unchanged(change, tree)
        (tmp_path / "f").touch()
        assert manifest.unchanged(change, tree)
        (tmp_path / "f").chmod(0o600)
        assert not manifest.unchanged(change, tree)
        (tmp_path / "f").chmod(0o644)
        (tmp_path / "f").write_text("2")
        assert not manifest.unchanged(change, tree)
        (tmp_path / "f").unlink()
        assert not manifest.unchanged(change, tree)


def test_only_what_went_in_stood_there_at_the_start(tmp_path):
    """The manifest is the whole truth about the start."""
    write(tmp_path, {"f": "1"})
    manifest = Manifest({"f": original(tmp_path, "f")})

    assert manifest.stood_at_start("f")
    assert not manifest.stood_at_start("g")
