import hashlib

import pytest

from orchestrator.workspace.contents import Digester, plain_node, read_node
from orchestrator.workspace.node import Node
from orchestrator.workspace.tree import open_tree


def test_digest_does_not_depend_on_the_pieces():
    """Bytes are bytes."""
    one, many = Digester(), Digester()
    one.update(b"abc" * 5000)
    for _ in range(5000):
        many.update(b"abc")

    assert one.sha256 == many.sha256 == hashlib.sha256(b"abc" * 5000).hexdigest()


@pytest.mark.parametrize(
    ("data", "binary"),
    [(b"text\n", False), (b"a\0b", True), (b"x" * 8000 + b"\0", False), (b"\xff\xfe", False)],
)
def test_early_nul_means_binary(data, binary):
    """As git judges."""
    digester = Digester()
    digester.update(data)

    assert digester.binary == binary


def test_file_that_grows_or_shrinks_meanwhile_is_an_error(tmp_path):
    """What was listed is what must be read."""
    (tmp_path / "f").write_text("four")
    with open_tree(tmp_path) as tree:
        good = plain_node(tree, "f", tree.lstat("f"))
        assert read_node(tree, "f", good).sha256 == hashlib.sha256(b"four").hexdigest()
        for size in (3, 5):
            with pytest.raises(OSError, match="changed while"):
                read_node(tree, "f", Node("file", 0o644, size=size))
