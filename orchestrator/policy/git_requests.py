"""What a request would do to a git repository: smart HTTP tells by path and by one parameter."""

from __future__ import annotations

from typing import Literal, TypeAlias
from urllib.parse import unquote

GitAccess: TypeAlias = Literal["read", "write"]

_SERVICES: dict[GitAccess, str] = {"read": "git-upload-pack", "write": "git-receive-pack"}
"""Named from the server's side: a fetch uploads to the client, a push is received."""
_REFS = "/info/refs"
_ROUNDS = 3
"""Of decoding, as a chain of servers may do it."""


def git_access(method: str, path: str, query: str) -> frozenset[GitAccess]:
    """Return the accesses that a request of a git client belongs to; none if it is not in git's words.

    ``path`` is one reading of the request's, ``query`` as it was sent. What a push begins with
    reads no more than what a fetch begins with, and belongs to both.
    """
    if begins_push(method, path, query):
        return frozenset(("read", "write"))
    for access, service in _SERVICES.items():
        announced = path.endswith(_REFS) and query == f"service={service}"
        if method == "GET" and announced:
            return frozenset((access,))
        if method == "POST" and path.endswith(f"/{service}") and not query:
            return frozenset((access,))
    return frozenset()


def begins_push(method: str | None, path: str, query: str) -> bool:
    """Say whether a request asks, in exactly git's words, for what a push begins with."""
    return method == "GET" and path.endswith(_REFS) and query == f"service={_SERVICES['write']}"


def may_be_git(access: GitAccess, path: str, query: str) -> bool:
    """Say whether some server may take a request for this access, however it is spelled."""
    text = f"{path}?{query}"
    for _ in range(_ROUNDS):
        text = unquote(text)
    return _SERVICES[access] in text.lower()
