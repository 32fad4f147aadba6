"""A request's head as it goes upstream, and the plain questions that are asked of it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from orchestrator.egress.seams import Headers

_RANGE = re.compile(rb"(?!content[-_]).*range|a[-_]im")
"""``Range``, ``If-Range`` and their kin of old and of single vendors; ``A-IM`` asks for deltas."""


@dataclass(frozen=True, slots=True)
class RequestHead:
    """What is sent before the body."""

    method: str
    target: str
    """Origin-form, as sent."""
    headers: Headers

    def without(self, names: Iterable[str]) -> RequestHead:
        """Return it without these headers, which are given in lower case."""
        dropped = {name.encode() for name in names}
        kept = tuple(item for item in self.headers if item[0].lower() not in dropped)
        return replace(self, headers=kept)

    def without_ranges(self) -> RequestHead:
        """Return it without what asks for a piece of the answer only."""
        kept = tuple(item for item in self.headers if not _RANGE.fullmatch(item[0].lower()))
        return replace(self, headers=kept)

    def with_header(self, name: str, value: str) -> RequestHead:
        """Return it with this header, and no other of its name."""
        rest = self.without([name.lower()])
        return replace(rest, headers=(*rest.headers, (name.encode(), value.encode())))

    def values(self, name: str) -> list[str]:
        """Return a header's values, in order; bytes that are no ASCII as latin-1."""
        wanted = name.lower().encode()
        return [value.decode("latin-1") for key, value in self.headers if key.lower() == wanted]


def basic_pair(value: str) -> tuple[str, str] | None:
    """Return user and password of a Basic ``Authorization``; None for anything else."""
    scheme, _, coded = value.strip().partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, _, password = base64.b64decode(coded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return user, password


def basic_value(user: str, password: str) -> str:
    """Return the value of a Basic ``Authorization``."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
