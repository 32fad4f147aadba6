"""The way out of one session's box: opened where its policy lets anything out, and else not there.

Everything runs in the session's own event loop. The box is told last, when all that judges and
records is up; on leaving it is cut off first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from orchestrator.audit.log import AuditLog
from orchestrator.config.paths import Paths
from orchestrator.config.settings import EgressSettings
from orchestrator.confirmation.gate import Question
from orchestrator.dispatch.output import OutputFilter
from orchestrator.dispatch.questions import Questions
from orchestrator.egress.proxy import Proxy
from orchestrator.egress.session_tls import SessionTls
from orchestrator.egress.tls.authority import Authority
from orchestrator.harness.asking import asking_under
from orchestrator.harness.egress.asker import EgressAsker
from orchestrator.harness.egress.book import EgressBook
from orchestrator.harness.egress.credentials import Credentials
from orchestrator.harness.egress.files import PolicyFiles
from orchestrator.harness.egress.gatekeeper import EgressGatekeeper
from orchestrator.harness.egress.in_force import Rules, RulesInForce
from orchestrator.harness.egress.net import Net
from orchestrator.harness.egress.question import egress_question
from orchestrator.harness.egress.reload import NetworkReload, PolicySource
from orchestrator.harness.egress.running import RunningCalls
from orchestrator.harness.egress.secured import session_tls
from orchestrator.harness.egress.standing import StandingGrants
from orchestrator.harness.governed import Governed
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.judge_egress import EgressRules
from orchestrator.sandbox.driver import BoxStream, RunningBox
from orchestrator.schema.egress import Caller, EgressRequest, EgressVerdict
from orchestrator.schema.ids import SessionId
from orchestrator.schema.way_out import Incoming, WayOut

USUAL_PORTS = (80, 443)
MOST_PORTS = 16
"""Ports in the box of programs that ignore the proxy."""


@dataclass(frozen=True, slots=True)
class WayParts:
    """What a way out is put together from."""

    governed: Governed
    session: SessionId
    box: RunningBox
    audit: AuditLog
    output: OutputFilter
    observe: RunningCalls
    note: Callable[[str], None]
    """Tells the person something; the text is safe."""
    paths: Paths
    settings: EgressSettings = field(default_factory=EgressSettings)
    net: Net = field(default_factory=Net)


@dataclass(frozen=True, slots=True)
class SessionOutside:
    """What is at the host's end."""

    proxy: Proxy

    async def serve(self, incoming: Incoming, stream: BoxStream) -> None:
        """Serve one connection of a program in the box until it is over."""
        await self.proxy.serve(stream, incoming)

    async def knows(self, name: str, caller: Caller | None) -> bool:
        """Say whether a name may be looked up."""
        return await self.proxy.knows(name, caller)


def lets_out(policy: EffectivePolicy) -> bool:
    """Say whether a session under this policy has a way out at all."""
    return EgressRules(policy).may_let_out


def way_facts(policy: EffectivePolicy) -> dict[str, str]:
    """Return what a session's posture tells of its way out."""
    return {"way_out": "proxy on the host, by rule" if lets_out(policy) else "none"}


@asynccontextmanager
async def open_way_out(parts: WayParts) -> AsyncIterator[WayOut | None]:
    """Let out of the box what policy lets out, until the end of the block.

    Gives what the box is told. Where policy lets out nothing that is None, nothing is started, and
    the box stays without any listener.
    """
    policy = parts.governed.policy
    if not lets_out(policy):
        yield None
        return
    credentials = Credentials(parts.governed.keys, learn=parts.output.learn, note=parts.note)
    authority = Authority(parts.session)
    first = EgressRules(policy)
    await credentials.load(first.injections)
    work = _work(parts, first, credentials, tls=session_tls(authority, parts.settings))
    way = WayOut(
        authority.certificate,
        transparent_ports=transparent_ports(policy),
        environment=credentials.variables(first.injections),
    )
    async with work.running(), parts.box.let_out(way, SessionOutside(work.proxy)):
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


def _work(parts: WayParts, first: Rules, credentials: Credentials, *, tls: SessionTls) -> _Work:
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
        )
    )
    reload = NetworkReload(
        source=PolicySource.of(parts.governed.options, parts.paths, policy),
        rules=rules,
        build=lambda fresh: _rules(fresh, credentials),
        book=book,
        changed=PolicyFiles(parts.governed.options, parts.paths).changed,
        lapsed=gatekeeper.lapsed,
        recheck=recheck,
        observe=parts.observe,
        note=parts.note,
        held=policy,
    )
    return _Work(book, asker, proxies[0], reload)


async def _rules(policy: EffectivePolicy, credentials: Credentials) -> Rules:
    """Return a policy's rules, with the secrets that they name read."""
    rules = EgressRules(policy)
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
    return EgressAsker(questions, stands=standing.stands, unspent_s=policy.approvals.timeout)


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
