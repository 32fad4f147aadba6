"""Protected directories that do not exist are held by empty ones, which go again."""

import pytest

from orchestrator.workspace.placeholders import (
    make_placeholders,
    missing_directories,
    remove_placeholders,
)
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import write

PATTERNS = ["**/.vscode/**", ".github/workflows/**", "**/.envrc", "**/x*/**", "src/**"]


@pytest.fixture
def place(tmp_path):
    project, folder = tmp_path / "project", tmp_path / "state"
    write(project, {"src/a": ""})
    folder.mkdir()
    with open_tree(project) as tree:
        yield tree, project, folder


def test_only_directories_that_are_named_outright(place):
    """Files and wildcards cannot be held; what is there is held already."""
    tree, _, _ = place

    assert missing_directories(tree, PATTERNS) == [".github/workflows", ".vscode"]


def test_made_ones_go_again_unless_filled(place):
    """With the parents that had to be made; the person's own files keep theirs."""
    tree, project, folder = place
    wanted = missing_directories(tree, PATTERNS)

    made = make_placeholders(tree, wanted, folder=folder, owner=(1000, 1000))
    assert made == wanted
    assert (project / ".github/workflows").is_dir()
    write(project, {".github/mine": "x"})
    remove_placeholders(tree, folder)

    assert sorted(str(p.relative_to(project)) for p in project.rglob("*")) == [
        ".github",
        ".github/mine",
        "src",
        "src/a",
    ]


def test_file_in_the_way_is_its_own_hold(place):
    """Where a file stands, no directory can be."""
    tree, project, folder = place
    write(project, {".github": "a file"})

    assert make_placeholders(tree, [".github/workflows"], folder=folder, owner=(1, 1)) == []
    remove_placeholders(tree, folder)
    assert (project / ".github").read_text() == "a file"


def test_second_preparation_forgets_nothing(place):
    """A session that is resumed still knows what an earlier process made."""
    tree, project, folder = place
    make_placeholders(tree, [".vscode"], folder=folder, owner=(1000, 1000))
    make_placeholders(tree, [], folder=folder, owner=(1000, 1000))

    remove_placeholders(tree, folder)

    assert not (project / ".vscode").exists()
