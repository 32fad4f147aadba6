"""What no policy lets out."""

from dataclasses import replace

import pytest

from orchestrator.policy.egress_floor import near_refusal, refusal, shape_refusal
from orchestrator.schema.egress import EgressRequest
from tests.support.egress import request

PLAIN = request("GET https://a.example.com/x")


@pytest.mark.parametrize(
    "text", ["GET https://a.example.com/x", "CONNECT a.example.com:22", "LOOKUP a.example.com"]
)
def test_an_ordinary_request_has_no_refusal(text):
    """It is for the rules to say."""
    assert shape_refusal(request(text)) is None


@pytest.mark.parametrize(
    ("changed", "rule", "reason"),
    [
        ({"host": "A.example.com"}, "bad-host", "canonical"),
        ({"host": "a..example.com"}, "bad-host", "empty part"),
        ({"host": "0x7f.1"}, "odd-address", "four decimal parts"),
        ({"port": 0}, "bad-request", "0 is no port"),
        ({"door": "dns"}, "bad-request", "look-up"),
        ({"method": "get"}, "bad-request", "capital"),
        ({"method": ""}, "bad-request", "empty"),
        ({"method": None}, "bad-request", "tunnel"),
        ({"method": "CONNECT"}, "bad-request", "never let out"),
        ({"overrides": ("TRACE",)}, "bad-request", "never let out"),
        ({"overrides": ("A",) * 4}, "bad-request", "too many"),
        ({"other_paths": ("/a",) * 7}, "bad-request", "another path"),
        ({"other_paths": ("/a%00",)}, "bad-path", "control"),
        ({"method": None, "other_paths": ("/a",)}, "bad-request", "tunnel"),
        ({"scheme": "tcp"}, "bad-request", "nobody reads"),
        ({"upgrade": "h2c"}, "bad-request", "websocket"),
        ({"upgrade": "websocket", "method": "POST"}, "bad-request", "by GET"),
        ({"target": "/a%00"}, "bad-path", "control"),
        ({"method": "A--B"}, "bad-request", "capital"),
        ({"method": "A" * 32}, "bad-request", "capital"),
        ({"target": "/api/x y"}, "bad-request", "escaped"),
        ({"target": "/x?q=a b"}, "bad-request", "escaped"),
        ({"target": "/x?q=\u00e9"}, "bad-request", "escaped"),
        ({"target": "/x?q=\x7f"}, "bad-request", "escaped"),
        ({"target": "*"}, "bad-path", "slash"),
    ],
)
def test_what_is_none_is_named(changed, rule, reason):
    """By what is wrong with it."""
    refused = shape_refusal(replace(PLAIN, **changed))

    assert refused is not None
    assert (refused.effect, refused.rule, refused.layer) == ("deny", rule, "floor")
    assert reason in refused.reason


def test_a_switch_to_websocket_is_ordinary():
    """However the client spells the word."""
    assert shape_refusal(replace(PLAIN, upgrade="WebSocket")) is None


@pytest.mark.parametrize(
    ("host", "rule"),
    [("localhost", "special-name"), ("8.8.8.8", "unnamed-address"), ("::1", "unnamed-address")],
)
def test_what_is_near_needs_a_rule_that_names_it(host, rule):
    """A public name does not."""
    refused = near_refusal(host)

    assert refused == refusal(rule, refused.reason, refused.hint)
    assert near_refusal("a.example.com") is None


def test_an_empty_target_is_the_root():
    """As clients mean it."""
    assert shape_refusal(EgressRequest("http", "http", "a.example.com", 80, "GET", "")) is None
