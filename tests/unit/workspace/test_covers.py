"""Empty things to mount over what is hidden."""

from orchestrator.workspace.covers import cover, masked_cover


def test_covers_are_empty_and_made_once(tmp_path):
    """Asking again gives the same; neither can be written to by its owner."""
    file, directory = (cover(tmp_path, is_directory=kind) for kind in (False, True))

    assert (file, directory) == tuple(cover(tmp_path, is_directory=kind) for kind in (False, True))
    assert file.read_bytes() == b""
    assert list(directory.iterdir()) == []
    assert [path.stat().st_mode & 0o222 for path in (file, directory)] == [0, 0]


def test_masked_cover_holds_what_it_is_given(tmp_path):
    """Readable by whoever the command's user is, and made anew each time."""
    for content in (b"one", b"two"):
        path = masked_cover(tmp_path / "dirs", 3, content)
        assert path.read_bytes() == content
        assert path.stat().st_mode & 0o777 == 0o444
