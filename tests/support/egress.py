"""Requests out of the box, and rules on them, as short as tests want them."""

from __future__ import annotations

from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.egress_text import parse_egress
from orchestrator.policy.judge_egress import EgressRules
from orchestrator.schema.egress import EgressRequest, EgressVerdict


def request(text: str) -> EgressRequest:
    """Return ``GET https://host/path``, ``CONNECT host:port`` or ``LOOKUP host``."""
    return parse_egress(text, scheme_of=lambda _host, _port: "https")


def judge(policy: EffectivePolicy, text: str) -> EgressVerdict:
    """Return the verdict on a request that is written as people do."""
    rules = EgressRules(policy)
    return rules.judge(parse_egress(text, scheme_of=rules.tunnel_scheme))
