"""The proxy in a process of its own, with real rules and a real record, on two ports.

``python -m benchmarks.egress_parts.proxy SERVER-PORT AUTHORITY SESSION-CA AUDIT`` prints the port on
which tunnels stay closed and the one on which they are inspected, and serves until its input ends.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn

import anyio
from anyio.abc import TaskGroup

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.config.assets import asset
from orchestrator.confirmation.answers import NobodyConfirmer
from orchestrator.dispatch.questions import Questions
from orchestrator.egress.proxy import Proxy
from orchestrator.egress.scripted import ScriptedDialer, ScriptedResolver
from orchestrator.egress.seams import Gatekeeper
from orchestrator.egress.session_tls import SessionTls
from orchestrator.egress.sockets import SocketStream
from orchestrator.egress.tls.authority import Authority
from orchestrator.egress.tls.upstream import upstream_context
from orchestrator.harness.egress.asker import EgressAsker
from orchestrator.harness.egress.book import EgressBook
from orchestrator.harness.egress.gatekeeper import EgressGatekeeper
from orchestrator.harness.egress.in_force import RulesInForce
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.judge_egress import EgressRules
from orchestrator.policy.load import load_policy
from orchestrator.redaction.redactor import Redactor
from orchestrator.schema.ids import SessionId
from orchestrator.schema.way_out import Incoming

HOST, ADDRESS = "bench.example", "203.0.113.1"
POLICY = """
version: 1
name: bench
extends: [default]
network:
  rules:
    - {{id: bench, hosts: [{host}], effect: allow, inspect: {inspect}}}
"""


async def listen(proxy: Proxy, tasks: TaskGroup) -> int:
    """Serve a port of the loopback by the proxy; return the port."""

    class Served(SocketStream):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            tasks.start_soon(proxy.serve, self, Incoming("proxy"))

    server = await asyncio.get_running_loop().create_server(Served, "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    return port


def policy_in(folder: Path, *, inspect: bool) -> EffectivePolicy:
    """Return the policy of one port, from a file like a user's."""
    folder.mkdir(parents=True)
    file = folder / "policy.yaml"
    file.write_text(POLICY.format(host=HOST, inspect=str(inspect).lower()))
    return load_policy([str(file)], search=asset("policies"), user_file=None)


@asynccontextmanager
async def gatekeeper(folder: Path, *, inspect: bool) -> AsyncIterator[Gatekeeper]:
    """The real one, with rules from a policy file and a chain on disk."""
    policy = policy_in(folder, inspect=inspect)
    audit = AuditLog.create(
        folder / "audit.jsonl",
        session=SessionId("0" * 12),
        genesis={},
        signer=Signer.load(folder / "keys"),
    )
    redactor = Redactor({"key": "planted-value-1234567890"})
    book = EgressBook(audit, scrub=redactor.redact_json, on_failure=lambda: None)
    nobody = Questions(
        NobodyConfirmer(), audit, timeout_s=1, observe=_ignore, scrub=redactor.redact
    )
    asker = EgressAsker(nobody, stands=lambda _grant: False, unspent_s=1)
    async with book.running(), asker.running():
        yield EgressGatekeeper(
            RulesInForce(EgressRules(policy), policy.digest),
            asker,
            book,
            question=_no_question,
            stands=lambda _grant: False,
            observe=_ignore,
            scrub=redactor.redact,
        )


def _ignore(_event: Any) -> None:
    """Show nothing."""


def _no_question(*_what: Any) -> NoReturn:
    raise AssertionError("nothing here asks")


async def serve(server: int, tls: SessionTls, folder: Path, ready: Callable[..., None]) -> None:
    """Serve both ports until the input ends; ``ready`` is told them."""
    async with (
        gatekeeper(folder / "closed", inspect=False) as closed,
        gatekeeper(folder / "inspected", inspect=True) as inspected,
        anyio.create_task_group() as tasks,
    ):
        ports = []
        for keeper in (closed, inspected):
            dialer = ScriptedDialer({(ADDRESS, 443): server})
            resolver = ScriptedResolver({HOST: [ADDRESS]})
            ports.append(await listen(Proxy(keeper, resolver, dialer, tls=tls), tasks))
        ready(*ports)
        await asyncio.to_thread(sys.stdin.read)
        tasks.cancel_scope.cancel()


def main() -> None:
    """Set up, and serve."""
    server, authority, session, folder = sys.argv[1:]
    own = Authority("benchmark")
    Path(session).write_text(own.certificate)
    tls = SessionTls(own, upstream_context(Path(authority).read_text()))
    anyio.run(serve, int(server), tls, Path(folder), lambda *ports: print(*ports, flush=True))


if __name__ == "__main__":
    main()
