"""Another name of a file is found wherever it is."""

import os

from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.hard_links import find_twins, literal_glob, outside_links
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import write


def test_twins_of_hidden_files_are_found(tmp_path):
    """Also of those inside a hidden directory; not the given names themselves."""
    write(tmp_path, {".env": "x", ".ssh/key": "k", "a/plain": "p"})
    os.link(tmp_path / ".env", tmp_path / "a/notes.txt")
    os.link(tmp_path / ".ssh/key", tmp_path / "a/other")
    os.link(tmp_path / "a/plain", tmp_path / "a/plain2")

    with open_tree(tmp_path) as tree:
        assert sorted(find_twins(tree, [".env", ".ssh"])) == ["a/notes.txt", "a/other"]


def test_single_names_cost_no_walk(tmp_path):
    """The usual case."""
    write(tmp_path, {".env": "x"})

    with open_tree(tmp_path) as tree:
        assert list(find_twins(tree, [".env", "absent"])) == []


def test_files_with_a_name_outside_are_told_apart(tmp_path):
    """Two names within the tree are no way out of it."""
    write(tmp_path, {"in/a": "1", "in/b": "2", "out/x": ""})
    os.link(tmp_path / "in/a", tmp_path / "in/a2")
    os.link(tmp_path / "in/b", tmp_path / "out/b")

    with open_tree(tmp_path / "in") as tree:
        assert outside_links(tree) == ["b"]


def test_literal_pattern_matches_odd_names():
    """Characters that mean something in a pattern match as themselves."""
    for name in ("a/[x].txt", "b{1,2}", "c*?", "d\\e"):
        assert path_globs([literal_glob(name)]).match(name)
