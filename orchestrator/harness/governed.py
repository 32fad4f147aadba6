"""What a session runs under, settled before anything is made: policy, keys, who answers, project."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.config.settings import ApprovalsSettings
from orchestrator.confirmation.gate import Confirmer
from orchestrator.confirmation.work_clock import ClockedConfirmer, WorkClock
from orchestrator.credentials.store import KeyStore
from orchestrator.dispatch.execs import Execs
from orchestrator.dispatch.judge import Judge
from orchestrator.dispatch.output import OutputFilter
from orchestrator.dispatch.records import AuditSink
from orchestrator.harness.asking import asking_under, confirmer_for
from orchestrator.harness.desk import Desk, open_desk
from orchestrator.harness.front import FrontDoor
from orchestrator.harness.governing import loaded_policy
from orchestrator.harness.keys import open_key_store
from orchestrator.harness.luggage import check_luggage, with_read_roots
from orchestrator.harness.options import NO_MODEL, RunOptions
from orchestrator.harness.overrides import check_model
from orchestrator.harness.project import check_project
from orchestrator.harness.project_image import ProjectAsker, ProjectImage
from orchestrator.harness.skills.voting import SkillVotes
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.evaluate import evaluate, evaluate_command
from orchestrator.schema.event import Observer
from orchestrator.schema.ids import SessionId


@dataclass(frozen=True, slots=True)
class Governed:
    """One session's; ``options`` are those of the project's own image, once that was asked about."""

    options: RunOptions
    policy: EffectivePolicy
    keys: KeyStore
    desk: Desk
    confirmer: Confirmer
    project: ProjectImage
    clock: WorkClock = field(default_factory=WorkClock)
    """Stands still while a person is waited for."""
    votes: SkillVotes = field(default_factory=SkillVotes)
    """Of the skill that is on."""

    def judge(
        self, session: SessionId, audit: AuditSink, output: OutputFilter, *, observe: Observer
    ) -> Judge:
        """Return who judges each request of the session, and asks where policy says so."""
        policy, votes = self.policy, self.votes
        return Judge(
            lambda request, tool: evaluate(votes.under(policy), request, tool=tool),
            asking_under(policy, self.confirmer, self.options, session=session),
            audit,
            observe=observe,
            scrub=output.scrub,
        )

    def execs(self, audit: AuditSink, output: OutputFilter, *, observe: Observer) -> Execs:
        """Return who looks at each program that is started in the box."""
        policy, votes = self.policy, self.votes
        return Execs(
            lambda request: evaluate_command(votes.under(policy), request),
            audit=audit,
            output=output,
            observe=observe,
            unexpected=policy.unexpected,
        )


async def govern(
    options: RunOptions, approvals: ApprovalsSettings, paths: Paths, *, front: FrontDoor
) -> Governed:
    """Load the policy and find out who answers; asks about the project's own image.

    Raises GloveboxError where the session may not be: nothing is made by then.
    """
    check_project(options.directory, home=Path.home().resolve(), state=paths.state.resolve())
    policy = with_read_roots(loaded_policy(options, paths), options)
    if options.model != NO_MODEL:
        check_model(policy, options.model)
    keys = open_key_store(paths, os.environ)
    desk = open_desk(paths, policy, approvals, keys=keys, note=front.note, run=options)
    confirmer = confirmer_for(options, front.person(), desk)
    project = await ProjectAsker(policy, paths, confirmer, front.note).chosen(options)
    check_luggage(project.options, policy, state=paths.state.resolve())
    clock = WorkClock()
    timed = ClockedConfirmer(confirmer, clock)
    return Governed(project.options, policy, keys, desk, timed, project, clock)
