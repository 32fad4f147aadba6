"""The real proxy with real rules, certificates and credentials, for programs of this machine."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from orchestrator.egress.inject.injector import Injector
from orchestrator.egress.inject.placeholders import Placeholders
from orchestrator.egress.proxy import Proxy
from orchestrator.egress.scripted import ScriptedDialer, ScriptedGatekeeper, ScriptedResolver
from orchestrator.egress.seams import ByteStream
from orchestrator.egress.session_tls import SessionTls
from orchestrator.egress.tls.authority import Authority
from orchestrator.egress.tls.upstream import upstream_context
from orchestrator.policy.judge_egress import EgressRules
from orchestrator.policy.load import load_policy
from orchestrator.policy.owned_folder import OwnedFolder
from orchestrator.schema.egress import EgressRequest, EgressVerdict
from orchestrator.schema.way_out import Incoming
from tests.support.certificates import ServerAuthority
from tests.support.secrets import FixedSecrets
from tests.support.tls_server import listening

ADDRESS = "203.0.113.7"


@dataclass
class Said:
    """What a program said, on both its outputs."""

    code: int
    out: bytes
    err: str


class Inspected:
    """One session's proxy, in front of one server on this machine, which has the public ADDRESS."""

    def __init__(self, folder: Path, host: str, rules: str, **secrets: str) -> None:
        """``rules`` are the lines of ``network.rules``; ``secrets`` may never be seen outside."""
        self.home = folder / "home"
        self.home.mkdir()
        self.host = host
        (folder / "p.yaml").write_text(
            f"version: 1\nname: p\nnetwork:\n  default: deny\n  rules:\n{rules}"
        )
        policy = load_policy(
            ["p"], search=folder, user_file=None, system=OwnedFolder(folder / "none")
        )
        self.rules = EgressRules(policy)
        self.certificates, self._authority = ServerAuthority(), Authority("test")
        self.ca = self.home / "ca.pem"
        self.ca.write_text(self._authority.certificate)
        self.gate = ScriptedGatekeeper(self.rules.judge)
        self.book = Placeholders(FixedSecrets(**secrets))
        self._secrets = secrets
        self._folder = folder

    def server_context(self, *names: str, **when: int) -> ssl.SSLContext:
        """Return a certificate's context for the server, for its own name by default."""
        return self.certificates.server_context(self._folder, *(names or (self.host,)), **when)

    def answer(self, effect: str) -> None:
        """Be the person who is asked from now on."""

        def answered(request: EgressRequest) -> EgressVerdict:
            verdict = self.rules.judge(request)
            decision = verdict.decision
            if decision.effect == "ask":
                decision = replace(decision, effect=effect)
            return replace(verdict, decision=decision)

        self.gate.judge = answered

    def run(self, port: int, *command: str, env: Mapping[str, str] | None = None) -> Said:
        """Run a program by way of the proxy, in front of the server on a port of loopback."""

        async def scene() -> Said:
            async with self.proxied(port) as proxy:
                return await self.started(proxy, *command, env=env)

        return anyio.run(scene)

    @asynccontextmanager
    async def proxied(self, port: int) -> AsyncIterator[int]:
        """Yield the proxy's own port on loopback."""
        proxy = Proxy(
            self.gate,
            ScriptedResolver({self.host: [ADDRESS]}),
            ScriptedDialer({(ADDRESS, 443): port}),
            tls=SessionTls(self._authority, upstream_context(self.certificates.pem)),
            injector=Injector(self.book),
        )

        async def serve(stream: ByteStream) -> None:
            await proxy.serve(stream, Incoming("proxy"))

        async with listening(serve) as own:
            yield own
            proxy.close()
            await asyncio.sleep(0)

    async def started(
        self, proxy: int, *command: str, env: Mapping[str, str] | None = None
    ) -> Said:
        """Run a program as the box would; none of the secrets may be in what it says."""
        variables = self.book.variables(self.rules.injections)
        done = await anyio.run_process(
            list(command),
            check=False,
            cwd=self.home,
            input=b"",
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "https_proxy": f"http://127.0.0.1:{proxy}",
                "CURL_CA_BUNDLE": str(self.ca),
                "GIT_SSL_CAINFO": str(self.ca),
                **variables,
                **(env or {}),
            },
        )
        said = Said(done.returncode, done.stdout, done.stderr.decode())
        for secret in self._secrets.values():
            assert secret.encode() not in said.out
            assert secret not in said.err
        return said
