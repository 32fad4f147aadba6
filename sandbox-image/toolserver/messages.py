"""Requests and answers on the wire: JSON, and one text beside it.

A file's text goes as it is, after a NUL, which JSON cannot hold: to escape it and take that back
would take longer than to read the file. It is ``content`` of a request, ``text`` of an answer's
data. ``orchestrator/sandbox/results.py`` is the other end.
"""

from __future__ import annotations

import json
from typing import Any

_NUL = b"\0"


def parse_request(payload: bytes) -> dict[str, Any]:
    """Return a request; half of a surrogate pair comes out as it went in, to be refused later."""
    head, beside, content = payload.partition(_NUL)
    request: dict[str, Any] = json.loads(head)
    if beside:
        request["content"] = content.decode("utf-8", "surrogatepass")
    return request


def answer_bytes(answer: dict[str, Any]) -> bytes:
    """Return an answer as it goes over the wire."""
    data = answer.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        return json.dumps(answer).encode()
    text: str = data["text"]
    rest = {name: value for name, value in data.items() if name != "text"}
    return json.dumps({**answer, "data": rest}).encode() + _NUL + text.encode("utf-8", "replace")
