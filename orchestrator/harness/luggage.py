"""What a session brings along besides its project: home, further directories, variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine
from orchestrator.errors import ConfigError
from orchestrator.harness.box_spec import Tenant
from orchestrator.harness.options import RunOptions
from orchestrator.harness.project import check_project
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.redaction.redactor import Redactor
from orchestrator.sandbox.container_spec import HOME
from orchestrator.schema.mount import Mount
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.skills.active import FOLDER
from orchestrator.workspace.extra_dirs import mount_directories, target_names
from orchestrator.workspace.git_identity import git_variables, read_identity
from orchestrator.workspace.home import HomeSpec, prepare_home
from orchestrator.workspace.workspace import Prepared, WorkspaceSpec


def check_luggage(options: RunOptions, policy: EffectivePolicy, *, state: Path) -> None:
    """Raise where a further directory may not be brought along."""
    if options.add_dirs and policy.workspace.add_dirs == "deny":
        raise ConfigError(
            f"--add-dir: policy {policy.name} denies further directories",
            hint="workspace.add_dirs of the policy decides",
        )
    for directory in options.add_dirs:
        check_project(directory, home=Path.home().resolve(), state=state, named="--add-dir")
        if directory.is_relative_to(options.directory):
            raise ConfigError(
                f"--add-dir {directory}: it is part of the project, which the box has already"
            )


def check_environment(environment: Mapping[str, str], redactor: Redactor) -> None:
    """Raise ConfigError for a variable whose value is a secret, or looks like one."""
    for name, value in environment.items():
        # Together, as shapes such as TOKEN=… show only with the name.
        line = f"{name}={value}"
        if redactor.redact(value) != value or redactor.redact(line) != line:
            raise ConfigError(
                f"--env {name}: its value holds a secret, and no secret goes into the box",
                hint="every program in the box, and the model, could read it",
            )


def with_read_roots(policy: EffectivePolicy, options: RunOptions) -> EffectivePolicy:
    """Return the policy with the further directories among what file tools may read."""
    skills = (FOLDER,) if options.skill_files else ()
    return replace(
        policy, read_roots=(*policy.read_roots, *target_names(options.add_dirs), *skills)
    )


def brought_environment(options: RunOptions) -> dict[str, str]:
    """Return every variable that comes along: what was given, and who commits; blocks."""
    wanted = options.git_identity == "host"
    identity = read_identity(options.directory) if wanted else {}
    return {**git_variables(identity), **options.environment}


@dataclass(frozen=True, slots=True)
class Luggage:
    """What goes into the box beside the workspace."""

    options: RunOptions
    policy: EffectivePolicy
    _: KW_ONLY
    paths: Paths
    engine: Engine
    note: Callable[[str], None]

    def tenant(self, workspace: WorkspaceSpec, prepared: Prepared) -> Tenant:
        """Return whose files the box works on, with every mount; blocks, call it from a thread."""
        mounts = (
            *prepared.mounts,
            *self._home(workspace, prepared),
            *self._directories(workspace),
            *self._skills(),
        )
        environment = brought_environment(self.options)
        return Tenant(prepared.uid, prepared.gid, mounts, environment)

    def _home(self, workspace: WorkspaceSpec, prepared: Prepared) -> tuple[Mount, ...]:
        if self.policy.sandbox.home == "session" or prepared.mode == "none":
            return ()
        spec = HomeSpec(
            project=workspace.directory,
            target=HOME,
            uid=prepared.uid,
            gid=prepared.gid,
            image=workspace.image,
            labels=workspace.labels,
        )
        return (prepare_home(spec, paths=self.paths, engine=self.engine),)

    def _skills(self) -> tuple[Mount, ...]:
        files = self.options.skill_files
        if files is None:
            return ()
        if not self.engine.info().local:
            self.note("the engine is on another machine: the files of skills are not in the box")
            return ()
        return (Mount("bind", str(files), FOLDER, read_only=True),)

    def _directories(self, workspace: WorkspaceSpec) -> tuple[Mount, ...]:
        if self.options.add_dirs and not self.engine.info().local:
            raise ConfigError(
                "--add-dir: the engine is on another machine, which has not these directories",
                hint="copy what is needed into the project",
            )
        # Asked for none too: a session that is resumed without them knows of none any more.
        brought = mount_directories(
            self.options.add_dirs,
            hidden=self.policy.workspace.hidden,
            folder=self.paths.work(workspace.session),
        )
        for line in brought.notices:
            self.note(escape_terminal(line))
        return brought.mounts
