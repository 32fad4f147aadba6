"""Every reading that a server may have of a path."""

import pytest

from orchestrator.policy.url_paths import PathRefused, plain_glob, readings


@pytest.mark.parametrize(
    ("path", "also"),
    [
        ("/v1/../admin", "/admin"), ("/v1/%2e%2e/admin", "/admin"), ("/v1/..%2fadmin", "/admin"),
        ("/v1/..\\admin", "/admin"), ("/v1/..%5cadmin", "/admin"), ("/v1/;a=b/../admin", "/admin"),
        ("/v1/%252e%252e%252fadmin", "/admin"), ("/v1/..;/admin", "/admin"),
        ("/v1/..;x=1/admin", "/admin"), ("/v1//../../admin", "/admin"), ("/v1/.. /admin", "/admin"),
        ("/v1/..%20/admin", "/admin"), ("/v1/%EF%BC%8E%EF%BC%8E/admin", "/admin"),
        ("/v1/x%3f/../../admin", "/v1/x"), ("/v1/..%3badmin/x", "/x"), ("//admin", "/admin"),
        ("/v1/..%25252fadmin", "/admin"), ("/v1/%25%32%65%25%32%65/admin", "/admin"),
        ("/a/b/..", "/a/"), ("/../../x", "/x"), ("/v1/x;/..;/..;/admin", "/admin"),
    ],
)  # fmt: skip
def test_a_path_is_read_as_the_most_lenient_server_would(path, also):
    """In whatever order that one decodes, cuts, merges and resolves."""
    assert also in readings(path)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", ("/",)), ("/v1/items", ("/v1/items",)), ("/v1/a%20b", ("/v1/a b",)),
        ("/v1/%69tems", ("/v1/items",)), ("/caf%C3%A9", ("/caf\u00e9",)),
        ("/@scope%2fname", ("/@scope%2Fname", "/@scope/name")), ("/100%25", ("/100%25", "/100%")),
        ("/o/r.git/info/refs", ("/o/r.git/info/refs",)), ("/~user/x+y,z=1:2@3!$&'()*", ("/~user/x+y,z=1:2@3!$&'()*",)),
    ],
)  # fmt: skip
def test_an_ordinary_path_has_few_readings(path, expected):
    """So that a rule can name it."""
    assert readings(path) == expected


@pytest.mark.parametrize(
    "path",
    [
        "", "*", "v1", "http://x/", "/a\0", "/a%00", "/a%0d%0aX", "/a%2500", "/a%0a", "/%7f", "/%",
        "/%2", "/%zz", "/%u002e", "/caf\u00e9", "/a#b", "/a?b", "/%c0%ae", "/%e0%80%af", "/%f5",
        "/%C2%80", "/" + "a" * 9000, "/a" * 201, "/%2f" * 101, "/" + "a" * 7000 + "/x;b%5c..%252f.;c/%25252e", "/%" + "25" * 70 + "2e",
    ],
)  # fmt: skip
def test_what_cannot_be_read_in_all_ways_is_refused(path):
    """Control bytes, broken and overlong escapes, and paths that are made to confuse."""
    with pytest.raises(PathRefused):
        readings(path)


def test_latin_1_escapes_are_let_be():
    """They are not UTF-8, and yet nobody takes them for a dot or a slash."""
    assert len(readings("/caf%E9/x")) == 1


@pytest.mark.parametrize(
    ("glob", "plain"),
    [("/v1/**", "/v1/**"), ("/a%20b/*", "/a b/*"), ("/@s%2f*", "/@s%2F*"), ("/a[*]", "/a[*]")],
)
def test_a_glob_is_brought_to_the_form_of_readings(glob, plain):
    """Escapes that mean something stay, others are decoded."""
    assert plain_glob(glob) == plain


@pytest.mark.parametrize("glob", ["v1/**", "/a%", "/a%2a", "/a#b", "**"])
def test_a_glob_that_can_match_nothing_is_a_mistake(glob):
    """Said when the policy loads."""
    with pytest.raises(ValueError, match="path glob"):
        plain_glob(glob)
