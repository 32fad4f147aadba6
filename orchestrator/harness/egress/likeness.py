"""What a request amounts to for the person who is asked: acts, and what a wider yes covers. Pure.

A wider yes to reading covers the host, one to anything else the folder of the path: who may read
one page of a server will be asked about the next, who may change one thing there need not.
"""

from __future__ import annotations

from orchestrator.schema.egress import EgressRequest
from orchestrator.schema.likeness import FREE_WORD, Act, Likeness, Line, Pattern

READS = frozenset({"GET", "HEAD"})
BELOW = "below"
"""Stands before a path in a line, so that the root is a word too."""


def liken_egress(request: EgressRequest, *, effects: tuple[str, ...] = ()) -> Likeness:
    """Return the request's likeness; ``effects`` are lines for the person."""
    host = f"[{request.host}]" if ":" in request.host else request.host
    place = f"{request.scheme}://{host}:{request.port}"
    if request.method is None:
        return Likeness(effects, (Act("egress", place),))
    extra = frozenset({f"upgrade:{request.upgrade}"} if request.upgrade else ())
    method = " ".join(dict.fromkeys((request.method, *request.overrides)))
    act = Act(
        "egress", place, frozenset({method}) | extra, operands=(request.path, *request.other_paths)
    )
    if request.upgrade or request.overrides or request.other_paths:
        return Likeness(effects, (act,))
    folder, name = _split(request)
    if not folder and request.method not in READS:
        return Likeness(effects, (act,))
    if any(FREE_WORD.match(part) is None for part in (BELOW + folder, name)):
        return Likeness(effects, (act,))
    start = (request.method, f"{place}{folder}/")
    return Likeness(effects, (act,), Line((*start, name), ""), Pattern((*start, None), ""))


def _split(request: EgressRequest) -> tuple[str, str]:
    """Return the part of the path that a wider yes fixes, and a word for the rest."""
    path = request.path.rstrip("/")
    folder = "" if request.method in READS else path.rpartition("/")[0]
    return folder, BELOW + path[len(folder) :]
