"""The body of a request, for the servers of the standard library, which leave it to who uses them."""

from __future__ import annotations

from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler


def body_of(handler: BaseHTTPRequestHandler, headers: Mapping[str, str]) -> bytes:
    """Read what follows the head, by its length or in chunks; the headers' names are lower case."""
    if headers.get("transfer-encoding") != "chunked":
        return handler.rfile.read(int(headers.get("content-length", 0)))
    body = b""
    while size := int(handler.rfile.readline().split(b";")[0], 16):
        body += handler.rfile.read(size)
        handler.rfile.readline()
    handler.rfile.readline()
    return body
