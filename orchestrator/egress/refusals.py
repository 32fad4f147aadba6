"""Answers of the proxy itself: what was refused and how to ask, and nothing else of the policy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus

from orchestrator.egress.dialing import AddressRefusedError, UnreachableError
from orchestrator.egress.hops import values
from orchestrator.egress.seams import Headers
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import EgressRequest, egress_subject

POLICY_REASON = "Refused by policy"
ASK = "The owner of this session can allow it in the policy (network.rules)."


@dataclass(frozen=True, slots=True)
class Refusal:
    """One answer of the proxy in place of the server's."""

    status: int
    text: str
    """Lines that are safe to show to the box."""
    rule: str = ""
    """Goes into ``x-glovebox-rule``: policy refused it."""
    error: str = ""
    """Goes into ``x-glovebox-error``: it was allowed, and failed."""

    @property
    def reason(self) -> str:
        """Reason phrase of the status line."""
        if self.rule and self.status == HTTPStatus.FORBIDDEN:
            return POLICY_REASON
        return HTTPStatus(self.status).phrase


def by_policy(request: EgressRequest, decision: Decision, *, status: int = 403) -> Refusal:
    """Return the refusal of a request, by the rule that refused it."""
    lines = [
        f"glovebox: refused {egress_subject(request)}",
        f"rule: {decision.rule} ({decision.layer})",
        f"reason: {decision.reason}",
    ]
    if decision.hint:
        lines.append(f"hint: {decision.hint}")
    return Refusal(status, "\n".join([*lines, ASK]), rule=decision.rule)


def by_rule(rule: str, reason: str, *, status: int = 403) -> Refusal:
    """Return the refusal of what breaks a rule that no policy lifts, or a bound of one."""
    return Refusal(status, f"glovebox: refused\nrule: {rule}\nreason: {reason}", rule=rule)


def malformed(status: int, reason: str) -> Refusal:
    """Return the refusal of what is no request in one meaning."""
    return Refusal(status, f"glovebox: refused\nreason: {reason}", rule="malformed")


def failed(error: str, text: str, *, status: int = 502) -> Refusal:
    """Return the answer for what was allowed and could not be had."""
    return Refusal(status, f"glovebox: {text}", error=error)


def refusal_of(error: AddressRefusedError | UnreachableError) -> Refusal:
    """Return the answer for a place that is not connected to."""
    if isinstance(error, AddressRefusedError):
        return by_rule("address", str(error))
    return failed(error.kind, error.text, status=error.status)


def render(refusal: Refusal, asked: Headers = (), *, bodiless: bool = False) -> bytes:
    """Return the whole answer; it ends the connection. JSON where the client takes only that."""
    accepts = values(asked, b"accept")
    as_json = bool(accepts) and all(b"json" in value for value in accepts)
    text = _one_byte(refusal.text)
    if as_json:
        facts = {"error": "refused by policy" if refusal.rule else "failed", "message": text}
        if refusal.rule:
            facts["rule"] = refusal.rule
        body = json.dumps(facts).encode() + b"\n"
    else:
        body = text.encode("ascii") + b"\n"
    kind = "application/json" if as_json else "text/plain; charset=utf-8"
    lines = [
        f"HTTP/1.1 {refusal.status} {refusal.reason}",
        f"content-type: {kind}",
        f"content-length: {len(body)}",
        "cache-control: no-store",
        "connection: close",
    ]
    if refusal.rule:
        lines.append(f"x-glovebox-rule: {_header(refusal.rule)}")
    if refusal.error:
        lines.append(f"x-glovebox-error: {_header(refusal.error)}")
    head = "\r\n".join([*lines, "", ""]).encode("ascii")
    return head if bodiless else head + body


def _one_byte(text: str) -> str:
    """Return printable ASCII and line feeds: the box's own text may be a part of it."""
    safe = text.encode("ascii", "backslashreplace").decode()
    return "".join(char if char == "\n" or " " <= char <= "~" else "?" for char in safe)


def _header(text: str) -> str:
    return _one_byte(text).replace("\n", " ")[:200]
