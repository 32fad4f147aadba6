"""Taking over network rules while a session runs, from the very files that it began with.

Nothing but the rules of what leaves the box is taken over. A policy that does not load changes
nothing: the rules that held hold on, and the person is told. What is no longer allowed is closed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.errors import AuditError, GloveboxError, PolicyError
from orchestrator.harness.egress.book import EgressBook
from orchestrator.harness.egress.in_force import Rules, RulesInForce
from orchestrator.harness.options import RunOptions
from orchestrator.harness.project_policy import project_policies, texts_of
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.installed import SYSTEM
from orchestrator.policy.load import ProjectText, load_policy
from orchestrator.policy.owned_folder import OwnedFolder
from orchestrator.schema.event import Observer, PolicyChange
from orchestrator.schema.ids import Digest
from orchestrator.schema.terminal_text import escape_terminal

LOOK_S = 1.0
"""How often files and remembered yeses are looked at."""

UNKNOWN = (
    "the project's own policy is another now, and nobody said yes to it: the one that this session "
    "began with holds"
)


@dataclass(frozen=True, slots=True)
class PolicySource:
    """Where a session's policy comes from; blocks while it reads."""

    options: RunOptions
    paths: Paths
    agreed: tuple[ProjectText, ...]
    """The project's own policies that the session began with."""
    system: OwnedFolder = SYSTEM

    @classmethod
    def of(cls, options: RunOptions, paths: Paths, policy: EffectivePolicy) -> PolicySource:
        """Return the source of a policy that was just loaded."""
        held = {layer.source.digest for layer in policy.layers if layer.source}
        texts = texts_of(project_policies(options.directory, paths))
        return cls(options, paths, tuple(text for text in texts if text.digest in held))

    def load(self) -> tuple[EffectivePolicy, str]:
        """Return the policy as it is now, and what to tell of it; PolicyError where it is broken.

        A project's own policy counts as far as a person knows it: a box that can write it must not
        be able to keep its owner from tightening another.
        """
        texts, remark = self._projects()
        policy = load_policy(
            self.options.policies,
            search=asset("policies"),
            user_file=self.paths.config / "policy.yaml",
            state=self.paths.state,
            projects=texts,
            system=self.system,
        )
        return policy, remark

    def _projects(self) -> tuple[tuple[ProjectText, ...], str]:
        try:
            found = project_policies(self.options.directory, self.paths)
        except PolicyError as error:
            return self.agreed, f"{error.message}: {UNKNOWN}"
        if all(item.is_known for item in found):
            return texts_of(found), ""
        return self.agreed, UNKNOWN


@dataclass(slots=True)
class NetworkReload:
    """Looks after one session's rules."""

    source: PolicySource
    rules: RulesInForce
    build: Callable[[EffectivePolicy], Awaitable[Rules]]
    book: EgressBook
    changed: Callable[[], tuple[Path, ...]]
    """What is another than at the last look."""
    lapsed: Callable[[], bool]
    """Whether a yes, by which something is open, stands no longer."""
    recheck: Callable[[], int]
    """Closes what is no longer allowed, and says how many that were."""
    observe: Observer
    note: Callable[[str], None]
    held: EffectivePolicy
    """What the rules come from."""
    look_s: float = LOOK_S
    """Seconds between two looks."""
    _told: str = field(default="", init=False)

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await anyio.sleep(self.look_s)
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001 - the rules that hold go on holding, and it is told
                self._tell(f"the files could not be looked at: {type(error).__name__}: {error}", ())

    async def look(self) -> None:
        """Take over what changed, and close what may not go on."""
        files = await to_thread.run_sync(self.changed)
        if files:
            await self._reload(files)
        if self.lapsed():
            self.recheck()

    async def _reload(self, files: tuple[Path, ...]) -> None:
        names = tuple(str(path) for path in files)
        try:
            policy, remark = await to_thread.run_sync(self.source.load)
            rules = await self.build(policy)
        except GloveboxError as error:
            self._tell(f"{error.message}; the network rules stay as they were", names)
            return
        if remark:
            self._tell(remark, names)
        else:
            self._told = ""
        if policy.digest == self.held.digest:
            return
        if _network_of(policy) == _network_of(self.held):
            self._tell("the policy changed, and what changed holds from the next session on", names)
        else:
            await self._take_over(policy, rules, names)
        self.held = policy

    async def _take_over(
        self, policy: EffectivePolicy, rules: Rules, files: tuple[str, ...]
    ) -> None:
        old, generation = self.rules.digest, self.rules.generation + 1
        try:
            await self.book.write("policy_change", _change(old, policy, generation, files))
        except AuditError:
            # Nothing leaves from here on, by no rules.
            return
        self.rules.replace(rules, policy.digest)
        closed = self.recheck()
        self.observe(PolicyChange(policy.digest, old, self.rules.generation, closed, files))
        self.note(
            escape_terminal(
                f"network rules read anew from {', '.join(files)}; {closed} connections closed"
            )
        )

    def _tell(self, what: str, files: tuple[str, ...]) -> None:
        """Say it once: a file that stays broken is not told of at each look."""
        if what == self._told:
            return
        self._told = what
        self.note(escape_terminal(f"policy: {what}"))
        self.book.note("policy_kept", {"why": what, "files": list(files)})


def _change(
    old: Digest, policy: EffectivePolicy, generation: int, files: tuple[str, ...]
) -> dict[str, Any]:
    return {
        "old_digest": old,
        "digest": policy.digest,
        "generation": generation,
        "policy": policy.name,
        "files": list(files),
    }


def _network_of(policy: EffectivePolicy) -> tuple[Any, ...]:
    """Return what is taken over while a session runs; models are those that the box may ask."""
    rules = tuple((layer.name, layer.document.network) for layer in policy.layers)
    return (*rules, policy.box_models)
