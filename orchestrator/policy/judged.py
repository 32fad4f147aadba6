"""Everything that policy is asked about: what a call would do, and what would leave the box."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.judge_egress import EgressRules
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import EgressRequest, EgressVerdict, egress_subject
from orchestrator.schema.packages import Packages
from orchestrator.schema.request import Request, request_subject

Judged: TypeAlias = Request | EgressRequest

EGRESS = "egress"
"""Stands in the place of a tool's name for what no tool asks for."""


def judge(policy: EffectivePolicy, request: Judged, *, tool: str) -> Decision:
    """Return the decision; never raises."""
    if isinstance(request, EgressRequest):
        return judge_egress(policy, request).decision
    return evaluate(policy, request, tool=tool)


def judge_egress(
    policy: EffectivePolicy, request: EgressRequest, *, packages: Packages | None = None
) -> EgressVerdict:
    """Return the verdict on a request as the proxy would put it: a policy says what a CONNECT is for.

    Package hosts are known in a session alone; without ``packages`` nothing is let out for their
    sake.
    """
    rules = EgressRules(policy, packages)
    if request.door == "connect":
        scheme = rules.tunnel_scheme(request.host, request.port)
        request = replace(request, scheme=scheme)
    return rules.judge(request)


def judged_subject(request: Judged) -> str:
    """Return what a person must see whole."""
    if isinstance(request, EgressRequest):
        return egress_subject(request)
    return request_subject(request)
