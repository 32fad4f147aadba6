import pytest

from orchestrator.egress.packages.places import origin_of, place_of
from orchestrator.schema.packages import PackagePlace


def test_a_place_is_what_lies_below_a_base():
    """With the scheme's port, without a password, in lower case."""
    assert place_of("pip", "https://me:pw@Index.Example./a/b") == PackagePlace(
        "pip", "https", "index.example", 443, "/a/b/", pages="/a/b/"
    )
    assert place_of("apt", "http://m.example:8080") == PackagePlace(
        "apt", "http", "m.example", 8080, "/"
    )


@pytest.mark.parametrize(
    ("url", "path", "pages"),
    [
        ("https://i.example/simple", "/", "/simple/"),
        ("https://i.example/root/all/+simple/", "/root/all/", "/root/all/+simple/"),
        ("https://i.example/root/own", "/root/own/", "/root/own/"),
    ],
)
def test_files_of_pip_lie_beside_the_index_and_its_pages_in_it(url, path, pages):
    """What else the server shows there may be anybody's words."""
    place = place_of("pip", url)

    assert (place.path, place.pages) == (path, pages)
    assert place_of("npm", url).path == place_of("npm", url).pages == pages


@pytest.mark.parametrize(
    "url", ["ftp://x/", "https:///x", "https://x:99999/", "file:/x", "https://é.example/"]
)
def test_what_is_no_web_server_has_no_origin(url):
    """Odd spellings are not made sense of."""
    assert origin_of(url) is None
    assert place_of("pip", url) is None
