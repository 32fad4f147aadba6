"""Empty things to mount over what is hidden."""

from orchestrator.workspace.covers import cover


def test_covers_are_empty_and_made_once(tmp_path):
    """Asking again gives the same; neither can be written to by its owner."""
    file, directory = (cover(tmp_path, is_directory=kind) for kind in (False, True))

    assert (file, directory) == tuple(cover(tmp_path, is_directory=kind) for kind in (False, True))
    assert file.read_bytes() == b""
    assert list(directory.iterdir()) == []
    assert [path.stat().st_mode & 0o222 for path in (file, directory)] == [0, 0]
