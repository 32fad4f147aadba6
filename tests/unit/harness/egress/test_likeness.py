"""What a wider yes covers: for reading the host, for anything else the folder."""

from dataclasses import replace

import pytest

from orchestrator.harness.egress.likeness import liken_egress
from tests.support.egress_desk import GET, TUNNEL


def covers(asked, other):
    pattern, line = liken_egress(asked).pattern, liken_egress(other).line
    return pattern is not None and line is not None and pattern.covers(line)


@pytest.mark.parametrize(
    ("more", "covered"),
    [
        ({"target": "/anything/else"}, True),
        ({"target": "/"}, True),
        ({"target": "/docs/"}, True),
        ({"target": "/v1/items?id=7"}, True),
        ({"method": "HEAD"}, False),
        ({"method": "POST"}, False),
        ({"host": "other.example"}, False),
        ({"port": 8443}, False),
        ({"scheme": "http"}, False),
        ({"target": "/a/../b"}, False),
        ({"target": "/a/%2e%2e/b"}, False),
        ({"target": "//a"}, False),
        ({"upgrade": "websocket"}, False),
        ({"overrides": ("DELETE",)}, False),
        ({"other_paths": ("/repos/acme/issues",)}, False),
    ],
)
def test_wider_yes_to_reading(more, covered):
    assert covers(GET, replace(GET, **more)) is covered


@pytest.mark.parametrize(
    ("target", "covered"),
    [("/repos/acme/pulls", True), ("/repos/acme", False), ("/repos/other/pulls", False)],
)
def test_wider_yes_to_writing_stays_in_its_folder(target, covered):
    post = replace(GET, method="POST", target="/repos/acme/issues")

    assert covers(post, replace(post, target=target)) is covered


def test_no_wider_yes_to_writing_at_the_root():
    """Its folder is the whole host."""
    assert liken_egress(replace(GET, method="POST", target="/graphql")).pattern is None


def test_tunnel_has_no_wider_yes():
    assert liken_egress(TUNNEL).pattern is None
    assert liken_egress(TUNNEL).acts


def test_denied_path_is_repeated_by_another_query_alone():
    denied = liken_egress(GET).acts[0]

    assert liken_egress(replace(GET, target="/v1/items?x=1")).acts[0].holds(denied)
    assert not liken_egress(replace(GET, target="/v1/other")).acts[0].holds(denied)
    assert not liken_egress(replace(GET, method="POST")).acts[0].holds(denied)
