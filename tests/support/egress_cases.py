"""The egress corpus in real terms: its plain words into a policy, its requests into ours.

A policy's terms are ``SCHEME HOST[:PORTS] [METHODS] [PATH] [with …]`` or ``any public [SCHEME] host``;
a term with a word that is not understood is an error, so that no case is judged by less than it
says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from orchestrator.policy.addresses import check_address
from orchestrator.policy.hosts import HostRefused, canonical_host
from orchestrator.policy.network_match import USUAL_PORTS
from orchestrator.schema.egress import EgressRequest, Scheme

FILE = Path(__file__).parents[1] / "cases" / "egress.yaml"
OVERRIDES = frozenset({"x-http-method-override", "x-method-override", "x-http-method"})
SECRET = "env:INJECTED_KEY"
KEY_HEADER = "x-api-key"

_SCHEMES: dict[str, tuple[Scheme, bool]] = {
    "https": ("https", False),
    "http": ("http", False),
    "tcp": ("tcp", False),
    "wss": ("https", True),
    "ws": ("http", True),
}
"""Word to scheme, and whether a switch to WebSocket is meant."""
_METHODS = re.compile(r"[A-Z][A-Z-]+(?:\s*,\s*[A-Z][A-Z-]+)*")
_WITH_PORTS = re.compile(r"(?P<host>\[.*\]|[^:]*):(?P<ports>[0-9,*-]+)")
_PRIVATE = re.compile(r"[0-9a-fA-F.:]+/[0-9]+")

Case = Mapping[str, Any]


def load_egress_cases(file: Path = FILE) -> list[dict[str, Any]]:
    """Return the cases of a file."""
    return cast("list[dict[str, Any]]", yaml.safe_load(file.read_text()))


def policy_text(policy: Mapping[str, Any], *, name: str = "case") -> str:
    """Return a policy file that says what a case's plain terms say."""
    inspect = str(policy.get("tls", "")).startswith("intercepted")
    rules = [
        _rule(f"allow-{at}", str(term), inspect=inspect)
        for at, term in enumerate(policy.get("allow") or (), 1)
    ]
    rules += [
        _denial(f"deny-{at}", str(term)) for at, term in enumerate(policy.get("deny") or (), 1)
    ]
    listed = [rule for rule in rules if rule is not None]
    document = {"version": 1, "name": name, "network": {"default": "deny", "rules": listed}}
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)


def requests_of(case: Case) -> list[EgressRequest]:
    """Return what the proxy would put to policy for a case, in order; all must be let out.

    A request by https comes in a tunnel, which is asked for first.
    """
    request = case["request"]
    how, host, port = request["how"], _host(str(request["host"])), int(request["port"])
    if how == "dns":
        return [EgressRequest("dns", "https", host, 0)]
    scheme = _scheme(case, port)
    method, target = request.get("method"), str(request.get("path") or "/")
    if how == "connect" and method is None:
        return [EgressRequest("connect", scheme, host, port)]
    headers = {
        str(name).lower(): str(value) for name, value in (request.get("headers") or {}).items()
    }
    inside = EgressRequest(
        door="http" if scheme == "http" and how == "http" else "inspected",
        scheme=scheme,
        host=host,
        port=port,
        method=str(method),
        target=target,
        upgrade=headers.get("upgrade", ""),
        overrides=tuple(value for name, value in headers.items() if name in OVERRIDES),
    )
    if inside.door == "http":
        return [inside]
    return [EgressRequest("connect", scheme, host, port), inside]


def needs_sockets(case: Case) -> bool:
    """Say whether a case is about bytes, names or addresses on the way, beyond what policy judges."""
    request = case["request"]
    headers = {str(name).lower() for name in request.get("headers") or {}}
    judged = headers <= OVERRIDES | {"connection", "upgrade", "sec-websocket-key"}
    return (
        request["how"] == "raw"
        or "resolves" in request
        or "sni" in request
        or not judged
        or "://" in str(request.get("path") or "")
        or "client sends" in str(request.get("note", ""))
        or not isinstance(request.get("port"), int)
    )


def _rule(rule_id: str, term: str, *, inspect: bool) -> dict[str, Any] | None:
    words = term.replace(", ", ",").split()
    rule: dict[str, Any] = {"id": rule_id, "effect": "allow"}
    if words[:2] == ["any", "public"] and "host" in words:
        named = [word for word in words[2 : words.index("host")] if word != "or"]
        rule["hosts"] = ["*"]
        rule["schemes"] = [_SCHEMES[word][0] for word in named] or ["https"]
        rest = words[words.index("host") + 1 :]
    else:
        scheme, websocket = _SCHEMES[words[0]]
        host, ports = _end(words[1])
        rule |= {"hosts": [host], "schemes": [scheme]}
        rule |= {"ports": ports} if ports else {}
        rule |= {"websocket": True} if websocket else {}
        rest = words[2:]
    _add_rest(rule, rest, term)
    if inspect and "https" in rule["schemes"]:
        rule["inspect"] = True
    return rule if _can_be_written(rule) else None


def _add_rest(rule: dict[str, Any], words: list[str], term: str) -> None:
    while words:
        word = words.pop(0)
        if word in {"with", "key", "only", "and", "permit", "allowed"}:
            continue
        if _METHODS.fullmatch(word):
            rule["methods"] = word.split(",")
        elif word.startswith("/"):
            rule["paths"] = word.split(",")
        elif word == "injected":
            rule["inject"] = {"secret": SECRET, "header": KEY_HEADER}
        elif word.lower() in {"websocket", "websockets", "upgrade"}:
            rule["websocket"] = True
        elif _PRIVATE.fullmatch(word):
            rule.setdefault("private", []).append(word)
        elif word.lower() in {"private", "including"} and words and _PRIVATE.fullmatch(words[0]):
            continue
        else:
            raise ValueError(f"{term!r}: {word!r} is not understood")


def _denial(rule_id: str, term: str) -> dict[str, Any]:
    words = term.replace(", ", ",").split()
    rule: dict[str, Any] = {"id": rule_id, "effect": "deny"}
    if words[0] in _SCHEMES and len(words) > 1:
        rule["schemes"] = [_SCHEMES[words.pop(0)][0]]
    host, ports = _end(words[0])
    rule |= {"hosts": [host]} | ({"ports": ports} if ports else {})
    _add_rest(rule, words[1:], term)
    return rule


def _end(text: str) -> tuple[str, list[int]]:
    """Return host and ports of ``host``, ``host:443``, ``host:8000-8010`` or ``[::1]:443``."""
    found = _WITH_PORTS.fullmatch(text)
    host, ports = (found["host"], found["ports"]) if found else (text, "")
    if host == "*":
        return host, list(_ports(ports))
    name = canonical_host(host.removeprefix("*."))
    return f"*.{name}" if host.startswith("*.") else name, list(_ports(ports))


def _ports(text: str) -> Iterator[int]:
    for part in filter(None, text.replace("*", "1-65535").split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _can_be_written(rule: Mapping[str, Any]) -> bool:
    """Say whether a policy can say this at all: metadata addresses and ``*.com`` are refused at load."""
    return all(
        host.count(".") > 1
        if host.startswith("*.")
        else host == "*" or check_address(host, rule.get("private", ())) in {None, "not an address"}
        for host in rule["hosts"]
    )


def _host(text: str) -> str:
    try:
        return canonical_host(text)
    except HostRefused:
        return text


def _scheme(case: Case, port: int) -> Scheme:
    """Return what the client speaks: what the case says, or the policy for the port, or the usual."""
    said = case["request"].get("scheme")
    if said in _SCHEMES:
        return _SCHEMES[said][0]
    terms = [
        str(term).split()[0]
        for term in case["policy"].get("allow") or ()
        if f":{port}" in str(term)
    ]
    for word in terms:
        if word in _SCHEMES:
            return _SCHEMES[word][0]
    if case["request"]["how"] == "connect":
        return "https"
    return "http" if port == USUAL_PORTS["http"] else "https"


def shown(case: Case) -> str:
    """Return a case in one line, for a failure."""
    return json.dumps({key: case[key] for key in ("id", "request", "policy", "expect")})
