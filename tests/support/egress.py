"""Requests out of the box as short as tests want them."""

from __future__ import annotations

from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.egress_text import parse_egress
from orchestrator.policy.judged import judge_egress
from orchestrator.schema.egress import EgressRequest, EgressVerdict


def request(text: str) -> EgressRequest:
    """Return ``GET https://host/path``, ``CONNECT host:port`` or ``LOOKUP host``."""
    return parse_egress(text)


def judge(policy: EffectivePolicy, text: str) -> EgressVerdict:
    """Return the verdict on a request that is written as people do."""
    return judge_egress(policy, parse_egress(text))
