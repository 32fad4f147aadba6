import pytest

from orchestrator.egress.strict import MessageError
from orchestrator.egress.targets import (
    Place,
    PlaceRefusedError,
    check_host,
    parse_absolute,
    parse_connect,
    parse_origin,
)

PLACE = Place("https", "a.example", 443)


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("a.example:443", PLACE),
        ("A.Example.:443", PLACE),
        ("203.0.113.1:22", Place("https", "203.0.113.1", 22)),
        ("[2001:db8::1]:443", Place("https", "2001:db8::1", 443)),
    ],
)
def test_the_end_of_a_tunnel_is_host_and_port(target, place):
    assert parse_connect(target) == place


@pytest.mark.parametrize(
    "target",
    [
        "a.example",
        "a.example:",
        "a.example:0",
        "a.example:0443",
        "a.example:65536",
        "a.example:+443",
        "a.example:443/",
        "2001:db8::1:443",
        ":443",
        "https://a.example:443",
        "[2001:db8::1]",
    ],
)
def test_a_tunnel_to_anything_else_is_refused(target):
    with pytest.raises(MessageError):
        parse_connect(target)


@pytest.mark.parametrize("target", ["u@a.example:443", "127.1:443", "a%2eexample:443", "a..b:443"])
def test_a_host_in_two_meanings_is_refused_and_kept_for_the_record(target):
    with pytest.raises(PlaceRefusedError) as caught:
        parse_connect(target)
    assert caught.value.status == 403
    assert caught.value.place.host in target


@pytest.mark.parametrize(
    ("target", "place", "origin"),
    [
        ("http://a.example/x?y", Place("http", "a.example", 80), "/x?y"),
        ("HTTP://A.example", Place("http", "a.example", 80), "/"),
        ("http://a.example?y", Place("http", "a.example", 80), "/?y"),
        ("https://a.example:8443/", Place("https", "a.example", 8443), "/"),
        ("http://a.example/x@y:1", Place("http", "a.example", 80), "/x@y:1"),
        ("http://[2001:db8::1]/", Place("http", "2001:db8::1", 80), "/"),
        ("http://a.example//b/%2e%2E/", Place("http", "a.example", 80), "//b/%2e%2E/"),
    ],
)
def test_a_url_is_place_and_target_byte_for_byte(target, place, origin):
    assert parse_absolute(target) == (place, origin)


@pytest.mark.parametrize(
    "target",
    [
        "/x",
        "*",
        "ftp://a.example/",
        "http:/a.example/",
        "http://a.example/x#y",
        "http://u@a.example/",
        "http://a.example@b.example/",
        "http://a.example:80:80/",
        "http:///x",
        "http://a.example\\@b.example/",
    ],
)
def test_a_url_that_is_no_url_of_one_place_is_refused(target):
    with pytest.raises(MessageError):
        parse_absolute(target)


def test_inside_a_connection_only_its_own_place_is_named():
    assert parse_origin("/x?y", PLACE) == "/x?y"
    assert parse_origin("https://a.example:443/x", PLACE) == "/x"
    for target in (
        "https://b.example/x",
        "http://a.example/x",
        "https://a.example:444/",
        "*",
        "/#",
    ):
        with pytest.raises(MessageError):
            parse_origin(target, PLACE)


@pytest.mark.parametrize("host", [b"a.example", b"A.EXAMPLE.", b"a.example:443", None])
def test_a_host_header_that_agrees_passes(host):
    check_host(host, PLACE)


@pytest.mark.parametrize(
    "host", [b"b.example", b"a.example:80", b"", b"a.example, b.example", b"u@a.example", b"\xff"]
)
def test_a_host_header_that_does_not_agree_is_refused(host):
    with pytest.raises(MessageError):
        check_host(host, PLACE)


@pytest.mark.parametrize(
    ("place", "authority"),
    [
        (PLACE, "a.example"),
        (Place("http", "a.example", 443), "a.example:443"),
        (Place("https", "2001:db8::1", 443), "[2001:db8::1]"),
    ],
)
def test_an_authority_leaves_out_the_usual_port(place, authority):
    assert place.authority == authority
