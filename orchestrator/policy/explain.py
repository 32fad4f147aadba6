"""A decision in words: verdict, the part it is about, rule and line, and what would change it."""

from __future__ import annotations

from typing import Any

from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.explain_terms import terms_data, terms_rows, unopened
from orchestrator.policy.judged import Judged, judged_subject
from orchestrator.policy.underline import underline
from orchestrator.policy.yaml_nodes import Place
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import EgressRequest, Terms
from orchestrator.schema.request import FileRequest, request_subject
from orchestrator.schema.terminal_text import escape_terminal

_FLOOR_CHANGES = {
    "outside": "no policy widens what file tools may write; files.read_roots adds to what they read",
    "unresolved": "nothing: a path is judged only when it is known where it lands",
    "bad-host": "nothing: what can be read as two hosts is judged as none",
    "odd-address": "nothing: an address counts in its usual spelling alone",
    "bad-request": "nothing: no rule lets such a request out",
    "bad-path": "nothing: a path is judged only when it can be read in all its meanings",
    "special-name": "a rule in network.rules that names this host itself",
    "unnamed-address": "a rule in network.rules that names this address itself",
    "private-address": "`private` in every rule that lets it out; nothing for link-local addresses",
    "gate-error": "nothing in a policy; report it as a bug",
}


def place_of_decision(policy: EffectivePolicy, decision: Decision) -> Place | None:
    """Return the line of the rule that decided; None for what no policy lifts."""
    # A project may have a policy at its root and one further down.
    places = (
        layer.place_of_rule(decision.rule, reason=decision.reason)
        for layer in policy.layers
        if layer.name == decision.layer
    )
    return next(filter(None, places), None)


def explain_text(
    policy: EffectivePolicy,
    request: Judged | str,
    decision: Decision,
    *,
    terms: Terms | None = None,
) -> str:
    """Return the explanation for a person, escaped for a terminal.

    A text in place of the request names what is no call; ``terms`` are those of a request out of
    the box.
    """
    place = place_of_decision(policy, decision)
    lines = [decision.effect.upper()]
    lines += [f"  {line}" for line in _subject(request, decision)]
    lines.append(_row("why", decision.reason))
    where = f", {place}" if place else ""
    lines.append(_row("rule", f"{decision.rule} ({decision.layer}{where})"))
    if decision.risks:
        lines.append(_row("risks", ", ".join(decision.risks)))
    notes = (*decision.notes, *unopened(request, decision, terms))
    lines += [_row("also", note) for note in notes]
    if decision.hint:
        lines.append(_row("hint", decision.hint))
    if decision.effect == "ask":
        lines.append(_row("answer", answer_needed(decision)))
    lines += [_row(label, text) for label, text in terms_rows(terms or Terms())]
    lines.append(_row("change", what_would_change(decision)))
    return "\n".join(lines) + "\n"


def explain_data(
    policy: EffectivePolicy,
    request: Judged | str,
    decision: Decision,
    *,
    terms: Terms | None = None,
) -> dict[str, Any]:
    """Return the explanation for a machine; strings are raw."""
    place = place_of_decision(policy, decision)
    return ({} if terms is None else {"terms": terms_data(terms)}) | {
        "effect": decision.effect,
        "rule": decision.rule,
        "layer": decision.layer,
        "place": str(place) if place else None,
        "reason": decision.reason,
        "risks": list(decision.risks),
        "span": list(decision.span) if decision.span else None,
        "hint": decision.hint,
        "always": decision.always,
        "unyielding": decision.unyielding,
        "notes": [*decision.notes, *unopened(request, decision, terms)],
        "change": what_would_change(decision),
        "policy": policy.name,
        "digest": policy.digest,
        "subject": request if isinstance(request, str) else judged_subject(request),
    }


def answer_needed(decision: Decision) -> str:
    """Say whose yes lets the call run."""
    if decision.unyielding:
        return "a person's yes to this very call; --yolo does not give it"
    if decision.always:
        return "a yes each time anew, or --yolo"
    return (
        "a yes, which may be remembered as approvals.scopes allow, or --yolo; nobody there means no"
    )


def what_would_change(decision: Decision) -> str:
    """Say which setting decides; every layer that votes must be of the other mind."""
    rule, layer = decision.rule, decision.layer
    kind, _, name = rule.partition(":")
    if rule == "unmatched":
        return decision.hint
    if layer == "floor":
        return _FLOOR_CHANGES.get(rule, "nothing")
    if kind == "risk":
        return (
            f"commands.risks.{name} in the {layer} layer, or a rule there with "
            f"`risks: [{name}]` for the commands meant"
        )
    if kind == "tool":
        return f"tools.{name} in the {layer} layer"
    if rule == "default:network":
        return f"network.default, or a rule in network.rules that matches, in the {layer} layer"
    if kind == "packages":
        return f"network.packages in the {layer} layer"
    if kind == "default":
        key = f"files.{name}.default" if name else "commands.default"
        return f"{key}, or a rule that matches, in the {layer} layer"
    if rule in {"protected", "hidden"}:
        return f"workspace.{rule} in the {layer} layer"
    return f"the rule {rule!r} in the {layer} layer; a later rule with this id replaces it"


def _subject(request: Judged | str, decision: Decision) -> list[str]:
    if isinstance(request, str):
        return [escape_terminal(request)]
    if isinstance(request, EgressRequest):
        return [escape_terminal(judged_subject(request))]
    subject = request_subject(request)
    if isinstance(request, FileRequest):
        return [f"{request.kind} {escape_terminal(subject)}"]
    return underline(subject, decision.span)


def _row(label: str, text: str) -> str:
    return f"  {label:<7} {escape_terminal(text)}"
