import stat

from orchestrator.workspace.mask import build_mask
from orchestrator.workspace.masking import Kept
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import write


def test_each_hidden_path_is_a_whiteout_below_look_alikes(tmp_path):
    """The parents show what the host's own directories show."""
    host, mask = tmp_path / "host", tmp_path / "mask"
    write(host, {".env": "", "a/b/.env": ""})
    (host / "a").chmod(0o710)
    mask.mkdir()

    with open_tree(host) as tree:
        build_mask(mask, tree, Kept((".env", "a/b/.env"), {}))

    for name in (".env", "a/b/.env"):
        info = (mask / name).lstat()
        assert stat.S_ISCHR(info.st_mode)
        assert info.st_rdev == 0
    assert stat.S_IMODE((mask / "a").stat().st_mode) == 0o710
    assert (mask / "a").stat().st_mtime_ns == (host / "a").stat().st_mtime_ns
