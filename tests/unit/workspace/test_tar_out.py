from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.contents import CHUNK
from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.node import Limits
from orchestrator.workspace.tar_out import TarOut
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import write


def packed(
    root: Path, limits: Limits | None = None
) -> tuple[TarOut, dict[str, tarfile.TarInfo], bytes]:
    with open_tree(root) as tree:
        hidden = path_globs(["**/.env"])
        out = TarOut(tree, hidden, limits or Limits(), owner=(1000, 1001), prefix="workspace")
        data = b"".join(out.stream())
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return out, {info.name: info for info in tar}, data


def test_everything_but_what_is_hidden_goes(tmp_path):
    """With the command's owner, and links as links."""
    write(
        tmp_path, {"a": "x" * 700, "d/b": "", "d/.env": "s", ".git/HEAD": "h", "e/" + "l" * 200: ""}
    )
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "a").chmod(0o4711)

    out, members, data = packed(tmp_path)

    assert set(members) == {
        "workspace",
        *(f"workspace/{n}" for n in ("a", "d", "d/b", ".git", ".git/HEAD", "e", "link")),
        "workspace/e/" + "l" * 200,
    }
    assert all((info.uid, info.gid) == (1000, 1001) for info in members.values())
    assert members["workspace/a"].mode == 0o711
    assert members["workspace/link"].linkname == "/etc/passwd"
    assert b"root:" not in data
    assert {item.path for item in out.originals} == {
        n.removeprefix("workspace/") for n in members
    } - {"workspace"}
    assert out.left_out == []


def test_special_files_stay_and_are_named(tmp_path):
    """Nothing is opened that could block."""
    os.mkfifo(tmp_path / "pipe")

    out, members, _ = packed(tmp_path)

    assert set(members) == {"workspace"}
    assert out.left_out == ["pipe: it is a fifo"]


def test_growing_file_is_cut_to_what_its_header_says(tmp_path):
    """The archive stays whole whatever happens to the file."""
    size = 3 * CHUNK
    (tmp_path / "log").write_bytes(b"x" * size)
    with open_tree(tmp_path) as tree:
        stream = TarOut(tree, path_globs([]), Limits(), owner=(1, 1), prefix="w").stream()
        pieces = [next(stream)]
        with (tmp_path / "log").open("ab") as log:
            log.write(b"y" * 5000)
        pieces += stream

    with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as tar:
        assert tar.getmember("w/log").size == size
        assert tar.extractfile("w/log").read() == b"x" * size


def test_shrinking_file_is_an_error(tmp_path):
    """A half file must not look like a whole one."""
    (tmp_path / "log").write_bytes(b"x" * 3 * CHUNK)
    with open_tree(tmp_path) as tree:
        stream = TarOut(tree, path_globs([]), Limits(), owner=(1, 1), prefix="w").stream()
        next(stream)
        (tmp_path / "log").write_bytes(b"x")
        with pytest.raises(WorkspaceError, match="shrank"):
            list(stream)


def test_too_deep_a_tree_is_an_error(tmp_path):
    """It could not be read back either."""
    write(tmp_path, {"a/b/c/d": ""})

    with pytest.raises(WorkspaceError, match="nested directories"):
        packed(tmp_path, Limits(depth=3))
