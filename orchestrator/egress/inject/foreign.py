"""Does a request bring a credential that is not this session's?

With an account of its own, a program in the box could send what it read there through a host that
is allowed. So where a rule sends a credential along, no other one may come.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote_plus

from orchestrator.egress.inject.credential_names import (
    is_credential_header,
    is_credential_parameter,
)
from orchestrator.egress.inject.head import RequestHead, basic_pair
from orchestrator.redaction.shapes import find_shapes


def foreign_header(head: RequestHead, own: Iterable[str], carrier: str) -> str | None:
    """Return the name of a header that brings another credential than ``own``; None without one.

    ``carrier`` is the header that the rule itself fills; cookies are not looked at.
    """
    known = frozenset(own)
    for raw, content in head.headers:
        name, value = raw.decode("latin-1"), content.decode("latin-1").strip()
        plain = name.lower().replace("_", "-")
        suspect = is_credential_header(name) or plain == carrier.lower().replace("_", "-")
        if plain == "cookie" or not value or is_own(value, known):
            continue
        if suspect or any(True for _ in find_shapes(value)):
            return name
    return None


def is_own(value: str, own: frozenset[str]) -> bool:
    """Say whether a header's value is a placeholder: bare, after a scheme's name, or in Basic."""
    pair = basic_pair(value)
    if pair is not None:
        return any(part in own for part in pair)
    return value in own or value.partition(" ")[2].strip() in own


def foreign_parameter(target: str, own: Iterable[str], carrier: str) -> str | None:
    """Return the name of a query parameter that brings another credential; None without one."""
    known = {*own, ""}
    for name, value in parameters(target):
        suspect = is_credential_parameter(name, value) or name == carrier
        if value not in known and (suspect or any(True for _ in find_shapes(value))):
            return name
    return None


def parameters(target: str) -> Iterator[tuple[str, str]]:
    """Yield the query's names and values, decoded; ``;`` parts them for some servers too."""
    for part in re.split("[&;]", target.partition("?")[2]):
        name, _, value = part.partition("=")
        yield unquote_plus(name), unquote_plus(value)
