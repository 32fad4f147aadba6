import pytest

from orchestrator.egress.packages.client import Named
from orchestrator.egress.packages.go import addresses, artefact


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("https://p.example,direct\nsum.example\n", ["https://p.example", "https://sum.example"]),
        ("https://p.example|https://q.example\noff\n", ["https://p.example", "https://q.example"]),
        (
            "https://p.example\nsum.example+0ab+key https://s.example/x\n",
            ["https://p.example", "https://s.example/x"],
        ),
        ("https://p.example\nsum.example+0ab+key\n", ["https://p.example", "https://sum.example"]),
    ],
)
def test_proxies_and_the_checksum_database_count(said, found):
    """As go's environment has them; ``direct`` and ``off`` are no servers."""
    assert addresses(said) == found


@pytest.mark.parametrize("said", ["", "off\noff\n", "direct\n"])
def test_a_go_without_a_proxy_is_an_error(said):
    """Modules straight from their repositories need rules of their own."""
    with pytest.raises(ValueError, match="no module proxy"):
        addresses(said)


def test_an_archive_says_what_it_is():
    """A capital letter is written as ``!`` and the small one."""
    assert artefact("/example.com/!acme/x/@v/v1.2.3.zip") == Named(
        "example.com/Acme/x", "v1.2.3", "v1.2.3.zip"
    )
    assert artefact("/example.com/x/@v/v1.2.3.info") is None
