import pytest

from orchestrator.egress.strict import MessageError
from orchestrator.egress.websocket import check_request, check_switch, switching

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""The example of RFC 6455."""
ASKED = ((b"Sec-WebSocket-Key", KEY), (b"Sec-WebSocket-Version", b"13"))
ANSWER = switching(((b"Sec-WebSocket-Accept", ACCEPT),))


def test_a_handshake_and_its_answer_pass():
    check_request("GET", ASKED, version=b"1.1", bodiless=True)
    check_switch(ASKED, ANSWER)


@pytest.mark.parametrize(
    ("method", "headers", "version", "bodiless"),
    [
        ("POST", ASKED, b"1.1", True),
        ("GET", ASKED, b"1.0", True),
        ("GET", ASKED, b"1.1", False),
        ("GET", ASKED[:1], b"1.1", True),
        ("GET", ASKED[1:], b"1.1", True),
        ("GET", (*ASKED, ASKED[0]), b"1.1", True),
        ("GET", ((b"Sec-WebSocket-Key", b"c2hvcnQ="), ASKED[1]), b"1.1", True),
        ("GET", ((b"Sec-WebSocket-Key", b"\xff"), ASKED[1]), b"1.1", True),
    ],
)
def test_what_is_no_handshake_is_refused(method, headers, version, bodiless):
    with pytest.raises(MessageError):
        check_request(method, headers, version=version, bodiless=bodiless)


@pytest.mark.parametrize(
    "answer",
    [
        (),
        switching(()),
        switching(((b"Sec-WebSocket-Accept", KEY),)),
        switching(((b"Sec-WebSocket-Accept", ACCEPT),) * 2),
        ((b"Sec-WebSocket-Accept", ACCEPT), (b"Upgrade", b"websocket")),
        ((b"Sec-WebSocket-Accept", ACCEPT), (b"Connection", b"Upgrade"), (b"Upgrade", b"h2c")),
    ],
)
def test_a_switch_that_does_not_answer_this_handshake_is_refused(answer):
    """A server that says 101 to anything would open a tunnel that nobody judged."""
    with pytest.raises(MessageError):
        check_switch(ASKED, answer)
