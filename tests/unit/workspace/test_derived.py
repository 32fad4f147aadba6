import os

import pytest

from orchestrator.workspace.bases import MOST_BYTES
from orchestrator.workspace.contents import plain_node, read_node
from orchestrator.workspace.derived import box_text, derive, derived_spool, host_text
from orchestrator.workspace.node import Change, Node, signature
from orchestrator.workspace.tree import open_tree


def test_host_text_is_read_only_as_it_was_judged(tmp_path):
    """A later edit, even of equal size, is not taken for what was seen."""
    (tmp_path / "f").write_text("one")
    with open_tree(tmp_path) as tree:
        seen = signature(tree.lstat("f"))
        assert host_text(tree, "f", seen) == b"one"
        (tmp_path / "f").write_text("two")
        os.utime(tmp_path / "f", ns=(seen.mtime_ns, seen.mtime_ns))
        with pytest.raises(OSError, match="changed"):
            host_text(tree, "f", seen)


@pytest.mark.parametrize("content", [b"a\0b", b"x" * (MOST_BYTES + 1)])
def test_what_is_no_text_is_none(tmp_path, content):
    """Binary and large contents are never merged or cut."""
    (tmp_path / "f").write_bytes(content)
    with open_tree(tmp_path) as tree:
        node = read_node(tree, "f", plain_node(tree, "f", tree.lstat("f")))

        assert host_text(tree, "f", signature(tree.lstat("f"))) is None
        assert box_text(lambda c: tree.file(c.path), Change("f", "added", None, node)) is None


def test_box_text_must_have_the_judged_digest(tmp_path):
    """A box that went on is noticed."""
    (tmp_path / "f").write_text("other")
    change = Change("f", "added", None, Node("file", 0o644, size=5, sha256="0" * 64))

    with open_tree(tmp_path) as tree, pytest.raises(OSError, match="changed in the box"):
        box_text(lambda c: tree.file(c.path), change)


def test_derived_content_remembers_what_the_box_has(tmp_path):
    """Also when it is derived twice."""
    of_box = Node("file", 0o600, size=1, sha256="b")
    spool = derived_spool(tmp_path)

    once = derive(spool, Change("f", "modified", of_box, of_box), b"merged", mode=0o644)
    twice = derive(spool, once, b"part", mode=0o644)

    assert once.box == twice.box == of_box
    assert twice.new.size == len(b"part")
    os.close(spool.open(once.new.sha256))
    os.close(spool.open(twice.new.sha256))
