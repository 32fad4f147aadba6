from orchestrator.config.paths import Paths
from orchestrator.harness.image_uses import forget_uses, last_uses, note_use
from orchestrator.schema.ids import Digest

ONE, TWO = Digest("sha256:1"), Digest("sha256:2")


def test_use_is_kept_until_the_image_is_gone(tmp_path):
    """By image; nothing used is no error."""
    paths = Paths(tmp_path / "state", tmp_path / "config")
    assert last_uses(paths) == {}

    note_use(paths, ONE, TWO)
    note_use(paths, ONE)
    assert set(last_uses(paths)) == {ONE, TWO}
    assert all(second > 1_600_000_000 for second in last_uses(paths).values())

    forget_uses(paths, {TWO})
    assert set(last_uses(paths)) == {TWO}
