import json

import h11
import pytest

from orchestrator.egress.dialing import AddressRefusedError, UnreachableError
from orchestrator.egress.refusals import (
    ASK,
    by_policy,
    by_rule,
    failed,
    malformed,
    refusal_of,
    render,
)
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import EgressRequest

REQUEST = EgressRequest("http", "https", "a.example", 443, "POST", "/v1?key=1")
DENY = Decision("deny", "no-posts", "org", "posts leave the house", hint="read it instead")


def read(data):
    """Return status, headers and body, as an independent client reads them."""
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    client.send(h11.EndOfMessage())
    client.receive_data(data)
    client.receive_data(b"")
    head, body = client.next_event(), b""
    while isinstance(event := client.next_event(), h11.Data):
        body += event.data
    return head, dict(head.headers), body


def test_a_refusal_says_what_which_rule_why_and_how_to_ask():
    head, headers, body = read(render(by_policy(REQUEST, DENY)))

    assert (head.status_code, head.reason) == (403, b"Refused by policy")
    assert headers[b"x-glovebox-rule"] == b"no-posts"
    assert headers[b"connection"] == b"close"
    for words in ("POST https://a.example/v1", "no-posts", "posts leave", "read it instead", ASK):
        assert words in body.decode()


def test_a_client_that_takes_only_json_gets_json():
    asked = ((b"Accept", b"application/json"),)
    _, headers, body = read(render(by_policy(REQUEST, DENY), asked))

    assert headers[b"content-type"] == b"application/json"
    assert json.loads(body)["rule"] == "no-posts"


@pytest.mark.parametrize("accept", [b"*/*", b"application/json, */*", b"text/html"])
def test_any_other_client_gets_text(accept):
    _, headers, _ = read(render(by_policy(REQUEST, DENY), ((b"Accept", accept),)))

    assert headers[b"content-type"].startswith(b"text/plain")


def test_an_answer_to_head_has_no_body():
    assert render(by_policy(REQUEST, DENY), bodiless=True).endswith(b"\r\n\r\n")


def test_words_of_the_box_cannot_break_out_of_the_answer():
    """Neither into headers nor onto a terminal."""
    _, headers, body = read(render(by_rule("a\r\nb", "x\r\n\x1b[31m\u00e9")))

    assert headers[b"x-glovebox-rule"] == b"a? b"
    assert b"\x1b" not in body
    assert b"\r" not in body


def test_what_failed_is_told_apart_from_what_was_refused():
    _, failure, _ = read(render(failed("dns", "no address")))
    head, refusal, _ = read(render(malformed(400, "two hosts")))

    assert failure[b"x-glovebox-error"] == b"dns"
    assert b"x-glovebox-rule" not in failure
    assert refusal[b"x-glovebox-rule"] == b"malformed"
    assert head.reason == b"Bad Request"


def test_a_refused_address_is_policy_and_an_unreachable_one_is_trouble():
    assert refusal_of(AddressRefusedError("private")).rule == "address"
    assert refusal_of(UnreachableError("timeout", "late", status=504)).status == 504
