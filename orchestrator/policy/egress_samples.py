"""Requests that a policy's network rules speak of, to see what policies make of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.network_match import USUAL_PORTS
from orchestrator.policy.network_rules import NetworkRule
from orchestrator.schema.egress import Scheme

_OTHER_METHODS = ("GET", "POST")
_MOST_EACH = 4


def rule_requests(policy: EffectivePolicy) -> Iterator[str]:
    """Yield, as ``parse_egress`` reads them, a few requests for each rule, some beside it."""
    for _, rule in policy.network.rules:
        for host in rule.hosts[:_MOST_EACH]:
            yield from _of_host(rule, host)


def _of_host(rule: NetworkRule, pattern: str) -> Iterator[str]:
    name = pattern.replace("*.", "any.").replace("*", "any.example.com")
    host = f"[{name}]" if ":" in name else name
    schemes: tuple[Scheme, ...] = rule.schemes or ("https",)
    for scheme in schemes:
        for port in (rule.ports or (USUAL_PORTS[scheme],))[:_MOST_EACH]:
            yield f"CONNECT {host}:{port}"
            if scheme == "tcp":
                continue
            for method in dict.fromkeys((*rule.methods[:_MOST_EACH], *_OTHER_METHODS)):
                for path in ("/", *map(_sample, rule.paths[:_MOST_EACH])):
                    yield f"{method} {scheme}://{host}:{port}{path}"
            if rule.websocket:
                yield f"GET {scheme.replace('http', 'ws')}://{host}:{port}/"


def _sample(glob: str) -> str:
    """Return a path that a glob matches, for most globs."""
    plain = re.sub(r"\{([^,}]*)[^}]*\}", r"\1", glob)
    plain = re.sub(r"\[[!^]?(.)[^]]*\]", r"\1", plain)
    return plain.replace("**", "a/b").replace("*", "a").replace("?", "a").replace(" ", "%20")
