"""What no policy lets out: no host, no request, or a name that means what is near."""

from __future__ import annotations

from orchestrator.policy.ballot import FLOOR
from orchestrator.policy.hosts import (
    BAD_HOST,
    HostRefused,
    canonical_host,
    is_address,
    special_name,
)
from orchestrator.policy.request_line import is_method, is_target
from orchestrator.policy.url_paths import BAD_PATH, PathRefused, readings_of
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import EgressRequest

BAD_REQUEST = "bad-request"
"""Rule of a refusal: what no server should be sent, whoever allows its host."""

_LONGEST_METHOD = 31
_NEVER_METHODS = frozenset({"CONNECT", "TRACE"})
_MOST_OVERRIDES = 3
_MOST_PATHS = 6
_MOST_PORT = 65535
_FORM_HINT = "write the address in its plain form"


def refusal(rule: str, reason: str, hint: str) -> Decision:
    """Return a no that no layer can lift."""
    return Decision(effect="deny", rule=rule, layer=FLOOR, reason=reason, hint=hint)


def shape_refusal(request: EgressRequest) -> Decision | None:
    """Return the refusal of what is not a plain request to one host; None for what is."""
    try:
        host = canonical_host(request.host)
    except HostRefused as err:
        return refusal(err.rule, err.reason, _FORM_HINT)
    if host != request.host:
        return refusal(BAD_HOST, "the host is not in its canonical form", _FORM_HINT)
    mistake = _of_end(request) or (_of_request(request, request.method) if request.method else None)
    if mistake:
        return refusal(BAD_REQUEST, mistake, "send an ordinary request")
    if request.method is not None:
        try:
            readings_of(request.paths)
        except PathRefused as err:
            return refusal(BAD_PATH, str(err), _FORM_HINT)
        if request.target and not is_target(request.target):
            mistake = "a target has blanks, control characters and all that is not ASCII escaped"
            return refusal(BAD_REQUEST, mistake, "write a blank as %20")
    return None


def near_refusal(host: str) -> Decision | None:
    """Return the refusal of a canonical host that only a rule which names it lets through."""
    if is_address(host):
        reason = "an address is reached only by a rule that names it"
        return refusal("unnamed-address", reason, "use the name of the server")
    near = special_name(host)
    if near is None:
        return None
    reason = f"{host} {near}; it is reached only by a rule that names it"
    return refusal("special-name", reason, "nothing on the machine around the box is in reach")


def _of_end(request: EgressRequest) -> str | None:
    lookup = request.door == "dns"
    if lookup and (request.port != 0 or request.method is not None):
        return "a look-up is for no port and no method"
    if not lookup and not 1 <= request.port <= _MOST_PORT:
        return f"{request.port} is no port"
    if request.method == "":
        return "the method is empty"
    inside = (request.target, request.upgrade, request.overrides, request.other_paths)
    if request.method is None and any(inside):
        return "a tunnel asks for nothing by itself"
    return None


def _of_request(request: EgressRequest, method: str) -> str | None:
    if request.scheme == "tcp":
        return "a request is never sent over bytes that nobody reads"
    if len(request.overrides) > _MOST_OVERRIDES:
        return "too many headers ask for another method"
    if len(request.other_paths) > _MOST_PATHS:
        return "too many headers ask for another path"
    for name in (method, *(item.upper() for item in request.overrides)):
        if not is_method(name) or len(name) > _LONGEST_METHOD:
            return "a method is written in capital letters"
        if name in _NEVER_METHODS:
            return f"the method {name} is never let out inside of a connection"
    if request.upgrade and (request.upgrade.lower() != "websocket" or method != "GET"):
        return "no protocol but websocket is switched to, and that by GET"
    return None
