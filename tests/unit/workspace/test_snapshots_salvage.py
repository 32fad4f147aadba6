import hashlib

from orchestrator.workspace.snapshots_contents import Contents
from orchestrator.workspace.snapshots_salvage import salvage
from orchestrator.workspace.tree import open_tree

DIGEST = hashlib.sha256(b"went in").hexdigest()


def test_content_that_is_still_on_the_host_is_kept(tmp_path):
    """What is there under another name, or not at all, is left to whoever looks for it."""
    (tmp_path / "f").write_bytes(b"went in")
    (tmp_path / "link").symlink_to("f")
    contents = Contents(tmp_path / "contents")

    with open_tree(tmp_path) as host:
        for path in ("gone", "link"):
            salvage(path, DIGEST, contents=contents, host=host)
            assert not contents.has(DIGEST)
        salvage("f", DIGEST, contents=contents, host=host)

    assert contents.has(DIGEST)
