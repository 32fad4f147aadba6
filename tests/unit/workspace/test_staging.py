import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.node import Change, Node, Signature
from orchestrator.workspace.staging import Stager, can_swap, open_staging, remove_staging
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import write

SEEN = Signature(1, 2, 3, 4, 5)
SHA_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
ABC = Node("file", 0o4750, size=3, sha256=SHA_ABC)
OLD = Node("file", 0o644, size=1, sha256="old")
DIRECTORY = Node("directory", 0o2755)


@pytest.fixture
def stager(tmp_path: Path):
    write(tmp_path, {"box": "abc", "p/d/x": ""})
    (tmp_path / "p/stage").mkdir()

    @contextmanager
    def content(_):
        fd = os.open(tmp_path / "box", os.O_RDONLY)
        yield fd
        os.close(fd)

    with open_tree(tmp_path / "p") as tree, open_staging(tree, "stage") as fd:
        yield Stager(tree, fd, content, None)


def ops(stager: Stager) -> list[tuple[str, str]]:
    return [(step.op, step.path) for step in stager.steps]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (Change("d/n", "added", None, ABC), [("create", "d/n")]),
        (
            Change("x/y/n", "added", None, ABC),
            [("mkdir", "x"), ("mkdir", "x/y"), ("create", "x/y/n")],
        ),
        (Change("d/x", "modified", OLD, ABC, seen=SEEN), [("replace", "d/x")]),
        (Change("d/x", "deleted", OLD, None, seen=SEEN), [("remove", "d/x")]),
        (Change("d", "deleted", DIRECTORY, None), [("rmdir", "d")]),
        (Change("n", "added", None, DIRECTORY), [("mkdir", "n")]),
        (Change("d/x", "mode", OLD, ABC, seen=SEEN), [("chmod", "d/x")]),
        (Change("d/x", "type", OLD, DIRECTORY, seen=SEEN), [("remove", "d/x"), ("mkdir", "d/x")]),
        (Change("d", "type", DIRECTORY, ABC), [("rmdir", "d"), ("create", "d")]),
        (Change("l", "added", None, Node("symlink", 0o777, target="d")), [("create", "l")]),
        (Change("d/x", "type", OLD, Node("symlink", 0, target="d")), [("replace", "d/x")]),
    ],
)
def test_change_becomes_its_steps(stager, change, expected):
    """Each kind of change has its own order of steps."""
    stager.add(change)

    assert ops(stager) == expected


def test_parents_are_made_once(stager):
    """Two files in one new directory need one step for it."""
    stager.add(Change("x/a", "added", None, ABC))
    stager.add(Change("x/b", "added", None, ABC))

    assert ops(stager) == [("mkdir", "x"), ("create", "x/a"), ("create", "x/b")]


def test_staged_content_has_permissions_only(stager):
    """No set-user-id bit is ever on the host, not even for a moment."""
    stager.add(Change("n", "added", None, ABC))

    info = os.stat(stager.steps[0].slot, dir_fd=stager.fd)
    assert info.st_mode & 0o7777 == 0o750
    assert info.st_ino == stager.steps[0].staged.inode


@pytest.mark.parametrize(
    "new",
    [Node("file", 0o644, size=3, sha256="other"), Node("file", 0o644, size=1, sha256=SHA_ABC)],
)
def test_content_that_is_not_what_was_shown_is_an_error(stager, new):
    """By digest, and without reading far past the size that was told."""
    with pytest.raises(WorkspaceError, match="changed after it was looked at"):
        stager.add(Change("n", "added", None, new))


def test_staging_directory_is_removed_with_its_files(stager, tmp_path):
    """Whatever was staged."""
    stager.add(Change("n", "added", None, ABC))

    remove_staging(stager.tree, "stage")
    remove_staging(stager.tree, "stage")

    assert not (tmp_path / "p/stage").exists()


def test_exchange_is_tried_before_it_is_needed(stager):
    """The trial leaves nothing behind."""
    assert can_swap(stager.fd, "p")

    assert os.listdir(stager.fd) == []  # noqa: PTH208 - by descriptor


def test_lost_staging_directory_is_an_error(tmp_path):
    """Without it an apply can be neither finished nor undone."""
    with open_tree(tmp_path) as tree, pytest.raises(WorkspaceError, match="is gone"):
        open_staging(tree, "none").__enter__()
