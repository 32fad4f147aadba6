"""A push over https begins with a GET that only its query tells from a fetch's; it is told here."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

from orchestrator.policy.url_paths import readings
from orchestrator.schema.egress import EgressRequest

_DISCOVERY = "/info/refs"
_PUSH = "git-receive-pack"
_MOST_ENCODINGS = 4


def announced_push(request: EgressRequest) -> EgressRequest | None:
    """Return the POST of the push that a request of a sound path begins; None for any other.

    Where that would be refused, its client learns so at once, before anything was prepared.
    """
    query = request.target.partition("?")[2]
    for _ in range(_MOST_ENCODINGS):
        query = unquote(query)
    if request.method is None or _PUSH not in query.lower():
        return None
    for path in readings(request.path or "/"):
        if path.endswith(_DISCOVERY):
            sent = request.path.rpartition(_DISCOVERY)[0] or path.removesuffix(_DISCOVERY)
            return replace(request, method="POST", target=f"{sent}/{_PUSH}", overrides=())
    return None
