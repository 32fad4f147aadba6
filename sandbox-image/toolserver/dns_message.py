"""The little of DNS that the box speaks: one question in, one answer out. Pure.

What a program sends is read strictly; what does not fit gets an error, and what is no question
gets nothing.
"""

from __future__ import annotations

import re
import socket
import struct
from typing import NamedTuple

A, AAAA, IN = 1, 28, 1
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED = range(6)
TTL = 30
"""Seconds for which a program may keep an answer: an address stays its name's for longer."""
MOST_MESSAGE = 1024
"""Bytes; a question with every usual option has less than half."""
MOST_NAME = 253

_HEAD = struct.Struct("!HHHHHH")
_KIND = struct.Struct("!HH")
_RECORD = struct.Struct("!HHHIH")
_RESPONSE, _OPCODE, _RECURSION_DESIRED, _RECURSION_AVAILABLE = 0x8000, 0x7800, 0x0100, 0x0080
_NAME_AGAIN = 0xC00C
"""A pointer to the question's name."""
_LABEL = re.compile(rb"[A-Za-z0-9_-]{1,63}")


class Question(NamedTuple):
    """What a program wants to know; ``error`` is why it cannot be told, or NOERROR."""

    number: int
    flags: int
    text: bytes
    """The question's own bytes, to be repeated in the answer."""
    name: str = ""
    """Lower case, without a dot at its end."""
    kind: int = 0
    error: int = NOERROR


def parse(message: bytes) -> Question | None:
    """Return the question; None for what is none, so that nothing answers an answer."""
    if len(message) < _HEAD.size:
        return None
    number, flags, questions, *_ = _HEAD.unpack_from(message)
    if flags & _RESPONSE:
        return None
    if flags & _OPCODE:
        return Question(number, flags, b"", error=NOTIMP)
    if questions != 1 or len(message) > MOST_MESSAGE:
        return Question(number, flags, b"", error=FORMERR)
    labels, end = _labels(message, _HEAD.size)
    if labels is None or len(message) < end + _KIND.size:
        return Question(number, flags, b"", error=FORMERR)
    kind, family = _KIND.unpack_from(message, end)
    text = message[_HEAD.size : end + _KIND.size]
    name = b".".join(labels).decode("ascii", "replace").lower()
    error = NOERROR
    if family != IN:
        error = REFUSED
    elif not labels or len(name) > MOST_NAME or not all(map(_LABEL.fullmatch, labels)):
        error = NXDOMAIN
    return Question(number, flags, text, name, kind, error)


def answer(question: Question, error: int = NOERROR, address: str | None = None) -> bytes:
    """Return the answer: an error, an IPv4 address, or that there is nothing of that kind."""
    flags = _RESPONSE | question.flags & (_OPCODE | _RECURSION_DESIRED) | _RECURSION_AVAILABLE
    counts = (1 if question.text else 0, 0 if address is None else 1, 0, 0)
    whole = _HEAD.pack(question.number, flags | error, *counts) + question.text
    if address is None:
        return whole
    return whole + _RECORD.pack(_NAME_AGAIN, A, IN, TTL, 4) + socket.inet_aton(address)


def _labels(message: bytes, at: int) -> tuple[list[bytes] | None, int]:
    """Return a name's labels and where it ends; None where it is cut or points elsewhere."""
    labels: list[bytes] = []
    while at < len(message):
        length = message[at]
        at += 1
        if length == 0:
            return labels, at
        if length > 63 or at + length > len(message) or len(labels) > MOST_NAME // 2:
            break
        labels.append(message[at : at + length])
        at += length
    return None, at
