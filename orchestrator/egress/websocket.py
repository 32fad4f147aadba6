"""The one protocol that a request may switch to, and whether the server really switched to it."""

from __future__ import annotations

import base64
import binascii
import hashlib

from orchestrator.egress.hops import values
from orchestrator.egress.seams import Headers
from orchestrator.egress.strict import MessageError

PROTOCOL = "websocket"
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""RFC 6455, section 1.3."""


def check_request(method: str, headers: Headers, *, version: bytes, bodiless: bool) -> None:
    """Raise MessageError unless this is a WebSocket handshake of version 13."""
    key = _one(headers, b"sec-websocket-key")
    try:
        sound = len(base64.b64decode(key, validate=True)) == 16
    except binascii.Error:
        sound = False
    if method != "GET" or version != b"1.1" or not bodiless or not sound:
        raise MessageError("a WebSocket handshake is a GET without a body, with one sound key")
    if _one(headers, b"sec-websocket-version") != b"13":
        raise MessageError("WebSocket of a version other than 13", status=426)


def check_switch(asked: Headers, answer: Headers) -> None:
    """Raise MessageError unless the 101 is the answer to this very handshake."""
    digest = hashlib.sha1(_one(asked, b"sec-websocket-key") + _GUID, usedforsecurity=False)
    expected = base64.b64encode(digest.digest())
    if values(answer, b"upgrade") != [PROTOCOL.encode()]:
        raise MessageError("the server switches to another protocol than was asked for")
    if b"upgrade" not in values(answer, b"connection"):
        raise MessageError("the server's 101 has no Connection: upgrade")
    if _one(answer, b"sec-websocket-accept") != expected:
        raise MessageError("the server's 101 does not answer this handshake")


def switching(headers: Headers) -> Headers:
    """Return end-to-end headers with those that ask for, or confirm, the switch."""
    return (*headers, (b"Connection", b"Upgrade"), (b"Upgrade", PROTOCOL.encode()))


def _one(headers: Headers, name: bytes) -> bytes:
    found = [value for key, value in headers if key.lower() == name]
    return found[0] if len(found) == 1 else b""
