import json

import pytest

from orchestrator.egress.packages.client import Link, Named, Page
from orchestrator.egress.packages.pip import addresses, announced, artefact, is_index

HELP = (
    "  -i, --index-url <url>       Base URL of the Python Package Index (default {}). This should\n"
)
INDEX = "https://index.example/simple"


def test_the_index_is_what_the_help_shows():
    """The help knows the default and what environment and settings made of it."""
    assert addresses(HELP.format(INDEX)) == ["https://index.example/simple"]


def test_further_indexes_and_pages_of_links_come_from_the_settings():
    """Several in one setting too; what is on this disk is no server."""
    said = HELP.format(INDEX) + (
        "global.extra-index-url='\\nhttps://a.example/simple\\nhttps://b.example:8443/x/+simple/'\n"
        ":env:.find-links='/opt/wheels https://c.example/links/page.html'\n"
        "global.timeout='60'\n"
    )

    assert addresses(said) == [
        "https://index.example/simple",
        "https://a.example/simple",
        "https://b.example:8443/x/+simple/",
        "https://c.example/links/",
    ]


def test_a_help_without_an_index_is_an_error():
    """Nothing is guessed."""
    with pytest.raises(ValueError, match="no index"):
        addresses("usage: pip")


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/p/ab/six-1.16.0-py2.py3-none-any.whl", ("six", "1.16.0")),
        ("/p/zope_interface-5.4.tar.gz", ("zope_interface", "5.4")),
        ("/p/a-b-c-2.0.zip", ("a-b-c", "2.0")),
        ("/odd.whl", ("odd", "")),
        ("/odd.tar.gz", ("odd", "")),
    ],
)
def test_a_file_says_what_it_is(path, named):
    """Wheels by their first two fields, source archives by the last dash."""
    assert artefact(path) == Named(*named, path.rpartition("/")[2])


def test_pages_and_metadata_are_no_artefacts():
    """Nothing is noted of them."""
    assert artefact("/simple/six/") is None
    assert artefact("/p/six-1.16.0-py3-none-any.whl.metadata") is None


def test_a_json_page_announces_files_and_their_metadata():
    """Relative addresses count from the page; fragments are no part of an address."""
    files = [
        {
            "filename": "six-1.0-py3-none-any.whl",
            "url": "https://files.example/p/six-1.0-py3-none-any.whl#x",
            "hashes": {"sha256": "AB"},
            "core-metadata": {"sha256": "cd"},
        },
        {"filename": "six-1.0.tar.gz", "url": "../../f/six-1.0.tar.gz", "hashes": {}},
        "no object",
    ]
    body = json.dumps({"name": "six", "files": files}).encode()
    page = Page("https://index.example/simple/six/", "application/vnd.pypi.simple.v1+json", body)
    wheel = "https://files.example/p/six-1.0-py3-none-any.whl"

    assert announced(page).links == [
        Link(wheel, Named("six", "1.0", "six-1.0-py3-none-any.whl"), ("sha256:ab",)),
        Link(f"{wheel}.metadata", None, ("sha256:cd",)),
        Link("https://index.example/f/six-1.0.tar.gz", Named("six", "1.0", "six-1.0.tar.gz")),
    ]


def test_an_html_page_announces_the_same():
    """With digests in fragments, a base, and metadata by attribute."""
    body = (
        b'<base href="https://files.example/p/"><a href="six-1.0.tar.gz#sha256=AB" '
        b'data-core-metadata="true">x</a><a name="y">y</a><A HREF="b-2.zip?x=1">b</A>'
    )
    page = Page("https://index.example/simple/six/", "text/html", body)

    assert announced(page).links == [
        Link(
            "https://files.example/p/six-1.0.tar.gz",
            Named("six", "1.0", "six-1.0.tar.gz"),
            ("sha256:ab",),
        ),
        Link("https://files.example/p/six-1.0.tar.gz.metadata", None),
        Link("https://files.example/p/b-2.zip?x=1", Named("b", "2", "b-2.zip")),
    ]


@pytest.mark.parametrize("body", [b"[]", b"{", b'"x"', b"[" * 100_000])
def test_a_page_that_is_none_is_an_error(body):
    """A server's nonsense is told, never taken."""
    with pytest.raises(ValueError):  # noqa: PT011 - of any text
        announced(Page("https://i.example/", "application/vnd.pypi.simple.v1+json", body))


def test_pages_are_told_by_their_media_type():
    """What pip asks for, and what old indexes answer."""
    assert is_index("/simple/six/", "application/vnd.pypi.simple.v1+json")
    assert is_index("/simple/six/", "text/html")
    assert not is_index("/simple/six/", "application/json")
