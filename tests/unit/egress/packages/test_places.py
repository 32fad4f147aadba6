import pytest

from orchestrator.egress.packages.places import origin_of, place_of
from orchestrator.schema.packages import PackagePlace


def test_a_place_is_what_lies_below_a_base():
    """With the scheme's port, without a password, in lower case."""
    assert place_of("pip", "https://me:pw@Index.Example./a/b") == PackagePlace(
        "pip", "https", "index.example", 443, "/a/b/"
    )
    assert place_of("apt", "http://m.example:8080") == PackagePlace(
        "apt", "http", "m.example", 8080, "/"
    )


@pytest.mark.parametrize(
    "url", ["ftp://x/", "https:///x", "https://x:99999/", "file:/x", "https://é.example/"]
)
def test_what_is_no_web_server_has_no_origin(url):
    """Odd spellings are not made sense of."""
    assert origin_of(url) is None
    assert place_of("pip", url) is None
