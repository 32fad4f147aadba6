"""Taking the policy's steps on an image: once for each image and list, kept as an image of its own.

The steps run in a container without a network. Where policy lets anything out, it shares the
loopback of a box beside it: an ordinary box, in which nothing runs but the listeners of the way
out. So what a step fetches passes the same proxy, rules, questions and record as in a session, in
a chain of its own, since the session's own begins with the image that is made here.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field, replace

from anyio import to_thread

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.engine.base_image import present_image
from orchestrator.engine.builds import BUILT_FROM_LABEL, BUILT_KIND, CHAIN_LABEL, SOURCE_LABEL
from orchestrator.engine.client import Engine
from orchestrator.engine.images import image_digest
from orchestrator.engine.labels import KIND, owner_label
from orchestrator.errors import EngineError
from orchestrator.harness.packages.relay import Relay
from orchestrator.harness.packages.steps import (
    PLAIN_ENVIRONMENT,
    TRUST,
    Step,
    authority_marks,
    may_keep_authority,
    prepared_name,
    step_environment,
    steps_of,
    trust_environment,
)
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.sandbox.driver import Lifecycle
from orchestrator.sandbox.engine_ways import seccomp_option
from orchestrator.sandbox.preparer import Preparer, preparing
from orchestrator.sandbox.preparer_spec import PreparerSpec
from orchestrator.schema.event import Observer, ToolEnd, ToolStart
from orchestrator.schema.ids import Digest, SessionId
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.schema.way_out import WayOut

STEP_S = 1800.0
"""A step may fetch and unpack some hundred packages; one that hangs must end."""
EVERY_S = 2.0
"""A package manager prints hundreds of lines; the last ones are shown where it fails."""
_SHOWN = 2000


@dataclass(frozen=True, slots=True)
class Preparation:
    """What is needed to take steps; ``relay`` is None where policy lets nothing out."""

    engine: Engine
    lifecycle: Lifecycle
    policy: EffectivePolicy
    paths: Paths
    note: Callable[[str], None]
    relay: Relay | None = None
    observe: Observer = field(default=lambda _: None)
    """Hears which step runs, as of a call."""

    async def is_done(self, named: str) -> bool:
        """Say whether the image is there, or policy has no steps."""
        of = await to_thread.run_sync(image_digest, self.engine, named)
        name = prepared_name(self.policy, of)
        return await to_thread.run_sync(present_image, self.engine, name) is not None

    def through(self, relay: Relay) -> Preparation:
        """Return the same with a network: what the relay leads out."""
        return replace(self, relay=relay)

    async def image(self, named: str) -> str:
        """Return the image with the steps taken; the named one where policy has none.

        Raises EngineError with a step's last words where it fails; nothing is kept then but the
        record.
        """
        steps = steps_of(self.policy)
        if not steps:
            return named
        of = await to_thread.run_sync(image_digest, self.engine, named)
        name = prepared_name(self.policy, of)
        if await to_thread.run_sync(present_image, self.engine, name) is None:
            await self._prepare(name, named, of, steps=steps)
        return name

    async def _prepare(self, name: str, named: str, of: Digest, *, steps: tuple[Step, ...]) -> None:
        session = SessionId(secrets.token_hex(6))
        network = "through the proxy" if self.relay else "no network"
        count = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
        self._tell(f"preparing {named} in {count} ({network}, once)")
        with self._chain(session, named, of) as audit:
            try:
                async with self._way(session, audit) as (box, way):
                    spec = await to_thread.run_sync(lambda: self._spec(session, of, box))
                    async with preparing(self.engine, spec) as preparer:
                        await self._take(steps, preparer, way, audit)
                        await _check_clean(preparer, way)
                        labels = self._labels(named, of, session)
                        made = await preparer.commit(name, labels)
            except BaseException as error:
                audit.append("prepare_failed", {"problem": str(error)[:_SHOWN]})
                raise
            audit.append("prepared", {"image": name, "image_digest": made})
        self._tell(f"prepared {named}; what it fetched: glovebox audit egress {session}")

    async def _take(
        self, steps: tuple[Step, ...], preparer: Preparer, way: WayOut | None, audit: AuditLog
    ) -> None:
        for number, step in enumerate(steps, 1):
            self._tell(f"step {number} of {len(steps)}: {step.what}")
            environment: Mapping[str, str] = PLAIN_ENVIRONMENT
            if way is not None:
                await self._run(Step("trust the proxy", TRUST), preparer, trust_environment(way))
                environment = {**environment, **step_environment(way)}
            audit.append("prepare_step", {"step": number, "command": step.command})
            call = f"prepare-{number}"
            self.observe(ToolStart(call=call, name="prepare", arguments={"command": step.what}))
            await self._run(step, preparer, environment)
            self.observe(
                ToolEnd(
                    call=call, name="prepare", is_error=False, output="", details={}, duration_ms=0
                )
            )

    async def _run(self, step: Step, preparer: Preparer, environment: Mapping[str, str]) -> None:
        try:
            end = await preparer.step(
                step.command,
                environment=environment,
                on_line=now_and_then(self._tell),
                seconds=STEP_S,
            )
        except TimeoutError as err:
            raise EngineError(
                f"sandbox.prepare: {step.what}: not done after {STEP_S / 60:.0f} minutes"
            ) from err
        if end.exit_code != 0:
            said = escape_terminal(end.last_words, keep_newlines=True)
            raise EngineError(
                f"sandbox.prepare: {step.what}: exit code {end.exit_code}; its last words:\n{said}",
                hint="what the network rules let out decides what a step can fetch"
                if self.relay
                else "policy lets nothing out, so a step has no network",
            )

    @asynccontextmanager
    async def _way(
        self, session: SessionId, audit: AuditLog
    ) -> AsyncIterator[tuple[str | None, WayOut | None]]:
        if self.relay is None:
            yield None, None
            return
        async with self.relay.leading_out(
            session, audit, engine=self.engine, lifecycle=self.lifecycle, policy=self.policy
        ) as led:
            yield led

    def _spec(self, session: SessionId, of: Digest, box: str | None) -> PreparerSpec:
        sandbox = self.policy.sandbox
        return PreparerSpec(
            session=session,
            image=of,
            owner=owner_label(),
            seccomp=seccomp_option(self.engine.info(), asset("sandbox-image") / "seccomp.json"),
            box=box,
            cpus=sandbox.cpus,
            memory=sandbox.memory,
            pids=sandbox.pids,
            runtime=sandbox.runtime,
        )

    @contextmanager
    def _chain(self, session: SessionId, named: str, of: Digest) -> Iterator[AuditLog]:
        genesis = {
            "policy": self.policy.name,
            "policy_digest": self.policy.digest,
            "image_digest": of,
            "prepares": named,
        }
        path, signer = self.paths.audit_log(session), Signer.load(self.paths.keys)
        audit = AuditLog.create(path, session=session, genesis=genesis, signer=signer)
        with closing(audit):
            yield audit

    def _labels(self, named: str, of: Digest, session: SessionId) -> dict[str, str]:
        return {
            KIND: BUILT_KIND,
            SOURCE_LABEL: f"sandbox.prepare on {named}",
            BUILT_FROM_LABEL: of,
            CHAIN_LABEL: str(session),
        }

    def _tell(self, line: str) -> None:
        self.note(escape_terminal(f"image: {line}"))


def now_and_then(
    tell: Callable[[str], None], *, now: Callable[[], float] = time.monotonic
) -> Callable[[str], None]:
    """Return what tells a line at once, and of those that follow one in two seconds."""
    last = -EVERY_S

    def told(line: str) -> None:
        nonlocal last
        if now() - last >= EVERY_S:
            last = now()
            tell(line)

    return told


async def _check_clean(preparer: Preparer, way: WayOut | None) -> None:
    """Raise EngineError where a step put the session's own authority where it would stay."""
    if way is None:
        return
    marks = authority_marks(way)
    for path in may_keep_authority(await preparer.changed()):
        data = await preparer.file(path)
        if any(mark in data for mark in marks):
            raise EngineError(
                f"sandbox.prepare: a step left the certificate of this build's proxy in {path}",
                hint="it is for the steps alone; $SSL_CERT_FILE names it, so do not copy that file",
            )
