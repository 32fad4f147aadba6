import os
from dataclasses import dataclass

import pytest

from orchestrator.workspace.node import Change, Node
from orchestrator.workspace.same_names import fold_of, ignoring_case, refuse_same_names
from orchestrator.workspace.tree import Tree, open_tree
from tests.support.workspaces import by_path, write

FILE = Node("file", 0o644)


def refused(*changes: Change, fold=ignoring_case) -> dict[str, str]:
    return {c.path: c.refused for c in refuse_same_names(changes, fold) if c.refused}


def added(path: str) -> Change:
    return Change(path, "added", None, FILE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Readme", "README"),
        ("straße", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("Dir/a", "dir/b"),
    ],
)
def test_names_that_fold_to_one_are_both_refused(one, other):
    """Whichever came last would have won; where letters count, both are fine."""
    both = added(one), added(other), added("else")

    assert refused(*both).keys() == {one, other}
    assert "same name as" in refused(*both)[one]
    assert refused(*both, fold=None) == {}


def test_change_of_letters_alone_is_no_clash():
    """The old name goes, so the new one is alone."""
    assert refused(Change("a", "deleted", FILE, None), added("A")) == {}


@pytest.mark.parametrize(
    "path", [".g\u200cit/hooks/x", "sub/.GIT./config", "git~1/config", ".git::$INDEX/x"]
)
def test_name_that_some_file_system_takes_for_git_is_refused(path):
    """Also where this one does not."""
    assert "for .git" in refused(added(path), fold=None)[path]
    assert refused(added(".gitignore"), added(".github/x"), fold=None) == {}


@dataclass(frozen=True, slots=True)
class CarelessTree(Tree):
    """A tree that looks names up whatever their letters, as other systems' do."""

    def lstat(self, path: str) -> os.stat_result | None:
        for name in os.listdir(self.root):  # noqa: PTH208 - as they are stored
            if name.casefold() == path.casefold():
                return os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        return None


@pytest.mark.parametrize("files", [{"name": "1"}, {"dir/x": "1"}])
def test_host_is_asked_by_a_name_that_is_there(tmp_path, files):
    """A careful file system finds nothing under other letters, a careless one the same file."""
    write(tmp_path, files)
    with open_tree(tmp_path) as tree:
        careless = CarelessTree(tree.fd, tree.root, tree.device, tree.openat2)

        assert fold_of(tree) is None
        assert fold_of(careless) is ignoring_case


def test_two_links_to_one_file_do_not_make_a_host_careless(tmp_path):
    """They may have names of the same letters."""
    write(tmp_path, {"name": "1"})
    os.link(tmp_path / "name", tmp_path / "NAME")

    with open_tree(tmp_path) as tree:
        assert fold_of(tree) is None


@pytest.mark.docker
def test_invisible_variant_of_git_out_of_a_box_stays_there(any_desk):
    """A harmless name on this machine, a hook on another."""
    workspace = any_desk.work(
        r"mkdir $'.g\xe2\x80\x8cit'; echo x > $'.g\xe2\x80\x8cit/config'; echo y > Y"
    )

    changes = by_path(any_desk.look(workspace))

    assert "for .git" in changes[".g\u200cit/config"].refused
    assert changes["Y"].refused == ""
