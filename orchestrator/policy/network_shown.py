"""A network rule in one line."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.policy.network_rules import NetworkRule
from orchestrator.policy.units import show_size

_LISTS = ("schemes", "ports", "methods", "git", "paths", "private")
_SIZES = ("max_upload", "max_download", "session_upload", "session_download")


def shown_rule(rule: NetworkRule) -> str:
    """Return the effect, and what the rule says of which requests; left-out keys are left out."""
    return "; ".join((f"{rule.effect} {', '.join(rule.hosts)}", *_rest(rule)))


def _rest(rule: NetworkRule) -> Iterator[str]:
    for key in _LISTS:
        values = getattr(rule, key)
        if values:
            yield f"{key} {', '.join(map(str, values))}"
    if rule.websocket:
        yield "websocket"
    if rule.inspect is not None:
        yield f"inspect {str(rule.inspect).lower()}"
    if rule.inject is not None:
        form, name = rule.inject.form
        yield f"inject {rule.inject.secret} as {form} {name}".rstrip()
    for key in _SIZES:
        size = getattr(rule, key)
        if size is not None:
            yield f"{key} {show_size(size)}"
