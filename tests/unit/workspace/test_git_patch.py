import hashlib
import os
import subprocess
import tracemalloc

import pytest

from orchestrator.workspace.contents import plain_node, read_node
from orchestrator.workspace.git_patch import git_mode, patch_chunks, quoted, unsayable
from orchestrator.workspace.node import Change, Node
from orchestrator.workspace.patch import PatchReader
from orchestrator.workspace.tree import open_tree

FILE = Node("file", 0o644)


@pytest.mark.parametrize(
    "name", ["plain", "with space", 'q"uote', "back\\slash", "tab\t", "ü", "\udcff"]
)
def test_names_are_quoted_as_git_quotes_them(tmp_path, name):
    """Else git would look for another file."""
    (tmp_path / name).write_text("")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    listed = subprocess.run(["git", "ls-files"], cwd=tmp_path, check=True, capture_output=True)

    assert quoted(name) == listed.stdout.rstrip(b"\n")


def test_modes_are_the_two_of_git():
    """Whatever else the permissions are."""
    assert [git_mode(Node("file", mode)) for mode in (0o600, 0o700, 0o655)] == [
        "100644",
        "100755",
        "100644",
    ]
    assert git_mode(Node("symlink", 0o777)) == "120000"


def test_what_a_patch_cannot_hold_is_named():
    """A mode that was there before is no news."""
    changes = [
        Change("d", "added", None, Node("directory", 0o755)),
        Change("new", "added", None, Node("file", 0o600)),
        Change("old", "modified", Node("file", 0o600), Node("file", 0o600)),
        Change("gone", "deleted", FILE, None),
    ]

    assert [line.split(":")[0] for line in unsayable(changes)] == ["d", "new"]


def test_large_content_is_streamed_and_comes_back(tmp_path):
    """By real git, and with little memory here however large the file is."""
    size = 8 * 1024 * 1024
    host, box, out = tmp_path / "host", tmp_path / "box", tmp_path / "out"
    for folder in (host, box, out):
        folder.mkdir()
    (box / "blob").write_bytes(os.urandom(size))
    with open_tree(host) as theirs, open_tree(box) as mine, (tmp_path / "p").open("wb") as file:
        node = read_node(mine, "blob", plain_node(mine, "blob", mine.lstat("blob")))
        reader = PatchReader(theirs, lambda change: mine.file(change.path))
        tracemalloc.start()
        file.writelines(patch_chunks(reader, [Change("blob", "added", None, node)]))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    subprocess.run(["git", "apply", str(tmp_path / "p")], cwd=out, check=True)

    assert peak < size / 2
    assert hashlib.sha256((out / "blob").read_bytes()).hexdigest() == node.sha256
