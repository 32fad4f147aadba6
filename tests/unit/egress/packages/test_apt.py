import pytest

from orchestrator.egress.packages.apt import addresses, artefact
from orchestrator.egress.packages.client import Named


def test_archives_are_what_apt_would_fetch_from():
    """Each once; media and disks are no servers."""
    said = "http://a.example/debian/\nhttp://a.example/debian/\nmirror+https://m.example/list\ncdrom:x\n"

    assert addresses(said) == ["http://a.example/debian/", "https://m.example/list"]


def test_an_apt_without_a_server_is_an_error():
    """Nothing is guessed."""
    with pytest.raises(ValueError, match="no source"):
        addresses("file:/srv/repo\n")


def test_a_package_says_what_it_is():
    """An epoch is written with an escaped colon; lists are no artefacts."""
    assert artefact("/debian/pool/main/h/hello/hello_2.10-3_amd64.deb") == Named(
        "hello", "2.10-3", "hello_2.10-3_amd64.deb"
    )
    assert artefact("/p/a_1%3a2_all.udeb") == Named("a", "1:2", "a_1%3a2_all.udeb")
    assert artefact("/debian/dists/x/InRelease") is None
