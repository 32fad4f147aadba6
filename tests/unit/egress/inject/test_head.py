import base64

import pytest

from orchestrator.egress.inject.head import RequestHead, basic_pair, basic_value

HEAD = RequestHead("GET", "/", ((b"Host", b"a"), (b"X-One", b"1"), (b"x-one", b"2")))


def test_header_is_put_in_the_place_of_all_of_its_name():
    changed = HEAD.with_header("X-ONE", "3")

    assert changed.headers == ((b"Host", b"a"), (b"X-ONE", b"3"))
    assert HEAD.values("x-one") == ["1", "2"]


def test_headers_are_left_out_by_name():
    assert HEAD.without(["x-one", "missing"]).headers == ((b"Host", b"a"),)


@pytest.mark.parametrize(
    ("value", "pair"),
    [
        (basic_value("me", "a:b"), ("me", "a:b")),
        ("basic " + base64.b64encode(b"me:").decode(), ("me", "")),
        ("Basic " + base64.b64encode(b"me").decode(), ("me", "")),
        ("Basic !!", None),
        ("Basic " + base64.b64encode(b"\xff:x").decode(), None),
        ("Bearer abc", None),
        ("", None),
    ],
)
def test_basic_is_taken_apart(value, pair):
    """Only what is Basic, and text."""
    assert basic_pair(value) == pair
