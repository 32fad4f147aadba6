"""The way out of one session's box: opened where its policy lets anything out, and else not there.

Everything runs in the session's own event loop. The box is told last, when all that judges and
records is up; on leaving it is cut off first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from orchestrator.config.settings import EgressSettings
from orchestrator.confirmation.gate import Question
from orchestrator.dispatch.questions import Questions
from orchestrator.egress.proxy import Proxy
from orchestrator.egress.seams import UpstreamProxy
from orchestrator.egress.session_tls import SessionTls
from orchestrator.egress.tls.authority import Authority
from orchestrator.harness.asking import asking_under
from orchestrator.harness.egress.asker import EgressAsker
from orchestrator.harness.egress.book import EgressBook
from orchestrator.harness.egress.company_proxy import company_proxy, proxy_fact
from orchestrator.harness.egress.credentials import Credentials
from orchestrator.harness.egress.files import PolicyFiles
from orchestrator.harness.egress.gatekeeper import EgressGatekeeper
from orchestrator.harness.egress.in_force import Rules, RulesInForce
from orchestrator.harness.egress.models import session_models
from orchestrator.harness.egress.outside import SessionOutside
from orchestrator.harness.egress.package_notes import package_watch
from orchestrator.harness.egress.parts import WayParts
from orchestrator.harness.egress.question import egress_question
from orchestrator.harness.egress.reload import NetworkReload, PolicySource
from orchestrator.harness.egress.secured import session_tls
from orchestrator.harness.egress.standing import StandingGrants
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.judge_egress import EgressRules
from orchestrator.schema.egress import Caller, EgressRequest, EgressVerdict
from orchestrator.schema.way_out import WayOut

USUAL_PORTS = (80, 443)
MOST_PORTS = 16
"""Ports in the box of programs that ignore the proxy."""


def lets_out(policy: EffectivePolicy) -> bool:
    """Say whether a session under this policy has a way out at all."""
    return EgressRules(policy).may_let_out


def opens_way(policy: EffectivePolicy) -> bool:
    """Say whether anything at all can leave: by network rules, or to a model."""
    return lets_out(policy) or policy.box_models.in_box == "allow"


def way_facts(policy: EffectivePolicy, settings: EgressSettings) -> dict[str, str]:
    """Return what a session's posture tells of its way out."""
    models = "allowed ones, by the host's key" if policy.box_models.in_box == "allow" else "none"
    facts = {
        "way_out": "proxy on the host, by rule" if lets_out(policy) else "none",
        "models_in_box": models,
    }
    upstream = proxy_fact(settings)
    return facts | {"upstream_proxy": upstream} if upstream and lets_out(policy) else facts


@asynccontextmanager
async def open_way_out(parts: WayParts) -> AsyncIterator[WayOut | None]:
    """Let out of the box what policy lets out, until the end of the block.

    Gives what the box is told. Where policy lets out nothing that is None, nothing is started, and
    the box stays without any listener.
    """
    policy = parts.governed.policy
    if not opens_way(policy):
        yield None
        return
    credentials = Credentials(parts.governed.keys, learn=parts.output.learn, note=parts.note)
    authority = Authority(parts.session)
    first = EgressRules(policy, parts.packages)
    await credentials.load(first.injections)
    by = await company_proxy(parts.settings, parts.governed.keys, learn=parts.output.learn)
    tls = session_tls(authority, parts.settings)
    work = _work(parts, first, credentials, tls=tls, by=by)
    async with (
        work.running(),
        session_models(parts, lambda: work.reload.held.box_models) as models,
    ):
        way = WayOut(
            authority.certificate,
            transparent_ports=transparent_ports(policy),
            model_port=models.port if models else None,
            environment=(models.environment if models else {})
            | credentials.variables(first.injections),
        )
        outside = SessionOutside(work.proxy, models.endpoint if models else None)
        async with parts.box.let_out(way, outside):
            yield way


@dataclass(frozen=True, slots=True)
class _Work:
    """What judges, asks, records and carries out, and keeps the rules as their files are."""

    book: EgressBook
    asker: EgressAsker
    proxy: Proxy
    reload: NetworkReload

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with (
            self.book.running(),
            self.asker.running(),
            anyio.create_task_group() as group,
        ):
            group.start_soon(self.reload.run)
            try:
                yield
            finally:
                group.cancel_scope.cancel()
                self.proxy.close()


def _work(
    parts: WayParts,
    first: Rules,
    credentials: Credentials,
    *,
    tls: SessionTls,
    by: UpstreamProxy | None,
) -> _Work:
    policy = parts.governed.policy
    rules = RulesInForce(first, policy.digest)
    proxies: list[Proxy] = []

    def recheck() -> int:
        return sum(proxy.recheck() for proxy in proxies)

    book = EgressBook(parts.audit, scrub=parts.output.scrub_data, on_failure=recheck)
    standing = StandingGrants(parts.governed.desk.grants)
    asker = _asker(parts, standing)
    gatekeeper = _gatekeeper(parts, rules, asker, book, standing=standing)
    proxies.append(
        Proxy(
            gatekeeper,
            parts.net.resolver,
            parts.net.dialer,
            tls=tls,
            injector=credentials.injector,
            recorder=gatekeeper,
            watch=package_watch(parts, book),
            by=by,
        )
    )
    reload = NetworkReload(
        source=PolicySource.of(parts.governed.options, parts.paths, policy),
        rules=rules,
        build=lambda fresh: _rules(fresh, credentials, parts),
        book=book,
        changed=PolicyFiles(parts.governed.options, parts.paths).changed,
        lapsed=gatekeeper.lapsed,
        recheck=recheck,
        observe=parts.observe,
        note=parts.note,
        held=policy,
    )
    return _Work(book, asker, proxies[0], reload)


async def _rules(policy: EffectivePolicy, credentials: Credentials, parts: WayParts) -> Rules:
    """Return a policy's rules, with the secrets that they name read."""
    rules = EgressRules(policy, parts.packages)
    if policy.network.packages and not parts.packages.places:
        parts.note(
            "network.packages: the image's clients are asked at a start: from the next one on"
        )
    await credentials.load(rules.injections)
    return rules


def _asker(parts: WayParts, standing: StandingGrants) -> EgressAsker:
    policy, governed = parts.governed.policy, parts.governed
    questions = Questions(
        governed.confirmer,
        parts.audit,
        timeout_s=policy.approvals.timeout,
        observe=parts.observe,
        scrub=parts.output.scrub,
    )
    return EgressAsker(
        questions,
        stands=standing.stands,
        unspent_s=policy.approvals.timeout,
        hear=parts.unanswered.hear,
    )


def _gatekeeper(
    parts: WayParts,
    rules: RulesInForce,
    asker: EgressAsker,
    book: EgressBook,
    *,
    standing: StandingGrants,
) -> EgressGatekeeper:
    governed, running = parts.governed, parts.observe
    asking = asking_under(
        governed.policy, governed.confirmer, governed.options, session=parts.session
    )

    def question(request: EgressRequest, verdict: EgressVerdict, caller: Caller | None) -> Question:
        return egress_question(
            request,
            verdict,
            asking=asking,
            call=running.only,
            context=running.lines(),
            caller=caller,
            scrub=parts.output.scrub,
        )

    return EgressGatekeeper(
        rules,
        asker,
        book,
        question=question,
        stands=standing.stands,
        observe=parts.observe,
        scrub=parts.output.scrub,
    )


def transparent_ports(policy: EffectivePolicy) -> tuple[int, ...]:
    """Return the ports that programs which ignore the proxy may connect to: those of the rules."""
    named = {
        port for _, rule in policy.network.rules if rule.effect != "deny" for port in rule.ports
    }
    return tuple(dict.fromkeys((*USUAL_PORTS, *sorted(named))))[:MOST_PORTS]
