"""What the doctor tells of the way out: what the usual policy opens, and whether it could be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.config.settings import load_settings
from orchestrator.errors import GloveboxError
from orchestrator.harness.egress.company_proxy import (
    proxy_fact,
    proxy_trouble,
    unused_variable,
)
from orchestrator.harness.egress.secured import host_context
from orchestrator.policy.judge_egress import EgressRules
from orchestrator.policy.load import load_policy


@dataclass(frozen=True, slots=True)
class WayOutFacts:
    """Of a session without further flags."""

    found: str = ""
    failure: str = ""
    """Why no such session could let anything out; empty where it could."""
    hint: str = ""


def look_at_way_out(paths: Paths, environ: Mapping[str, str]) -> WayOutFacts:
    """Return what the configured policy lets out; a mistake in it is a fact, not an error."""
    try:
        settings = load_settings(paths.config / "config.yaml", environ)
        policy = load_policy(
            settings.policy,
            search=asset("policies"),
            user_file=paths.config / "policy.yaml",
            state=paths.state,
        )
        host_context(settings.egress)
    except GloveboxError as error:
        return WayOutFacts(failure=error.message, hint=error.hint)
    upstream = settings.egress.upstream_proxy
    if upstream is not None and (trouble := proxy_trouble(upstream)):
        return WayOutFacts(failure=trouble, hint="mend egress.upstream_proxy in config.yaml")
    parts = []
    if EgressRules(policy).may_let_out:
        rules = sum(rule.effect != "deny" for _, rule in policy.network.rules)
        parts.append(f"{rules} network rules")
        parts += [f"packages of {', '.join(policy.network.packages)}"] * bool(
            policy.network.packages
        )
    if policy.box_models.in_box == "allow":
        parts.append("models")
    if settings.egress.extra_ca is not None:
        parts.append(f"authorities of {settings.egress.extra_ca}")
    if upstream is not None:
        parts.append(f"by the proxy {proxy_fact(settings.egress)}")
    elif parts and (variable := unused_variable(settings.egress, environ)):
        parts.append(f"not by {variable}, see egress.upstream_proxy")
    return WayOutFacts(f"policy {policy.name}: {', '.join(parts) or 'nothing leaves the box'}")
