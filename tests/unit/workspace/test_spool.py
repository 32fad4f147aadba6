import hashlib

import pytest

from orchestrator.workspace.spool import Spool


@pytest.mark.parametrize("size", [10, 3_000_000])
def test_only_what_is_wanted_is_kept_under_its_digest(tmp_path, size):
    """Small and large contents alike."""
    spool = Spool(tmp_path / "s")
    spool.clear()
    data = b"x" * size
    name = hashlib.sha256(data).hexdigest()

    assert spool.take([data], size=size, unwanted=name).sha256 == name
    assert list((tmp_path / "s").iterdir()) == []
    assert spool.take([data[:5], data[5:]], size=size, unwanted="").sha256 == name
    assert spool.path(name).read_bytes() == data


def test_earlier_contents_are_cleared(tmp_path):
    """A spool holds one reading."""
    spool = Spool(tmp_path / "s")
    spool.clear()
    spool.take([b"x"], size=1, unwanted="")
    spool.clear()

    assert list((tmp_path / "s").iterdir()) == []


def test_content_is_opened_without_following(tmp_path):
    """A digest is a plain name."""
    spool = Spool(tmp_path)
    (tmp_path / "abc").symlink_to("/etc/passwd")

    with pytest.raises(OSError, match="symbolic links"):
        spool.open("abc")
