"""The image that a project describes: shown to a person, and used only after a yes.

No file of a repository widens the box by itself. What is asked about is everything that goes in,
by digest; the answer is kept on this host; nobody there means no.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.confirmation.gate import Answer, Confirmer
from orchestrator.engine.base_image import present_image
from orchestrator.engine.builds import BuildSpec, build
from orchestrator.engine.client import Engine, connect
from orchestrator.errors import ConfigError, GloveboxError
from orchestrator.harness.devcontainer import find_devcontainer
from orchestrator.harness.devcontainer_values import container_variables
from orchestrator.harness.governing import agreed_policy
from orchestrator.harness.image_inputs import (
    ImageInputs,
    devcontainer_inputs,
    dockerfile_inputs,
)
from orchestrator.harness.image_question import image_question
from orchestrator.harness.options import RunOptions
from orchestrator.harness.trust import TrustStore
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.sandbox.hello import is_hook
from orchestrator.schema.terminal_text import escape_terminal

REPOSITORY = "glovebox/project"
_NOT_REMEMBERED = frozenset({"nobody", "timeout", "scripted"})


@dataclass(frozen=True, slots=True)
class ProjectImage:
    """What a session takes from its project."""

    options: RunOptions
    """With the image and its variables, where they are used."""
    commands: tuple[str, ...] = ()
    """To run in the box before the agent starts."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """For the record; empty where nothing was described."""


@dataclass(frozen=True, slots=True)
class ProjectAsker:
    """Asks about what a project brings, and remembers."""

    policy: EffectivePolicy
    paths: Paths
    confirmer: Confirmer
    note: Callable[[str], None]
    """Told of what is left out; given text is escaped."""

    async def chosen(self, options: RunOptions) -> ProjectImage:
        """Return the options with the image to use; the project's only after a yes.

        The project's own policy is asked about first. Raises PolicyError where it is not known and
        the answer is no, ConfigError where a Dockerfile was named and may not be built.
        """
        await agreed_policy(options, self.policy, self.paths, confirmer=self.confirmer)
        inputs = await to_thread.run_sync(self.inputs, options)
        if inputs is None:
            return ProjectImage(options)
        with closing(inputs):
            named = is_dockerfile(options.image or self.policy.sandbox.image, options.directory)
            if not await self.consented(options.directory, inputs):
                if named is not None:
                    raise ConfigError(
                        f"--image {named}: nobody has said yes to building it",
                        hint=f"look at it and answer: glovebox trust {options.directory} "
                        f"--image {named}",
                    )
                self._tell(
                    f"{inputs.what}: not used, this project is not trusted with it",
                    hint=f"glovebox trust {options.directory}",
                )
                return ProjectImage(options, facts=_facts(inputs, used="no"))
            return await to_thread.run_sync(self._used, options, inputs)

    async def consented(self, project: Path, inputs: ImageInputs) -> bool:
        """Return the remembered answer, else ask; an answer of a person is remembered."""
        store = TrustStore(self.paths)
        known = store.answer(project, inputs.digest)
        if known is not None:
            return known.answer == "yes"
        answer = await self.ask(project, inputs)
        if answer.by not in _NOT_REMEMBERED or answer.yes:
            store.remember(project, inputs.digest, what=inputs.what, yes=answer.yes, by=answer.by)
        return answer.yes

    async def ask(self, project: Path, inputs: ImageInputs) -> Answer:
        """Put the question, whatever was answered before."""
        question = image_question(project, inputs, self.policy)
        return await self.confirmer.ask(question, timeout_s=self.policy.approvals.timeout)

    def inputs(self, options: RunOptions, *, strict: bool = False) -> ImageInputs | None:
        """Return what would go into the image, None where nothing is described; close it.

        Raises ConfigError where policy denies a Dockerfile that was named. What a project describes
        wrongly is told and not used; where ``strict``, UsageError is raised instead.
        """
        explicit = options.image or self.policy.sandbox.image
        hidden = self.policy.workspace.hidden
        named = is_dockerfile(explicit, options.directory)
        if named is not None:
            self._refuse_denied(named)
            return dockerfile_inputs(named, project=options.directory, hidden=hidden)
        if explicit is not None:
            return None
        try:
            described = find_devcontainer(options.directory)
            if described is None:
                return None
            if self.policy.sandbox.project_image == "deny":
                self._tell(f"{described.path}: not used, policy {self.policy.name} denies it")
                return None
            return devcontainer_inputs(options.directory, described, hidden=hidden)
        except GloveboxError as error:
            if strict:
                raise
            # A project's broken file must not keep anybody from working on the project.
            self._tell(f"not used: {error.message}", hint=error.hint)
            return None

    def _refuse_denied(self, path: Path) -> None:
        if self.policy.sandbox.project_image == "deny":
            raise ConfigError(
                f"--image {path}: policy {self.policy.name} builds no image of a project",
                hint="sandbox.project_image of the policy decides",
            )

    def _used(self, options: RunOptions, inputs: ImageInputs) -> ProjectImage:
        engine = connect()
        try:
            name = self._image(engine, inputs)
            variables = self._variables(engine, name, inputs)
        finally:
            engine.close()
        for notice in inputs.described.notices if inputs.described else ():
            self._tell(notice)
        environment = {**variables, **options.environment}
        return ProjectImage(
            replace(options, image=name, environment=environment),
            inputs.described.commands if inputs.described else (),
            _facts(inputs, used="yes"),
        )

    def _image(self, engine: Engine, inputs: ImageInputs) -> str:
        if inputs.image is not None:
            return inputs.image
        name = f"{REPOSITORY}:{inputs.digest.partition(':')[2][:12]}"
        if present_image(engine, name) is None and inputs.context is not None:
            spec = BuildSpec(
                name=name,
                source=inputs.what,
                plan=inputs.plan,
                args=inputs.args,
                target=inputs.target,
                memory=self.policy.sandbox.memory,
            )
            build(engine, spec, inputs.context, progress=self._tell)
        return name

    def _variables(self, engine: Engine, image: str, inputs: ImageInputs) -> dict[str, str]:
        if inputs.described is None:
            return {}
        found = present_image(engine, image) or {}
        pairs = (entry.partition("=") for entry in (found.get("Config") or {}).get("Env") or ())
        values = container_variables(
            inputs.described.environment, {name: value for name, _, value in pairs}
        )
        for name in [name for name in values if is_hook(name)]:
            del values[name]
            self._tell(f"{inputs.what}: {name} is left out: it changes what every command means")
        return values

    def _tell(self, line: str, *, hint: str = "") -> None:
        self.note(escape_terminal(f"image: {line}" + (f" ({hint})" if hint else "")))


def is_dockerfile(image: str | None, directory: Path) -> Path | None:
    """Return the file an image setting names, None where it is an image's name.

    A path is told by how it begins; ``./`` is the project's directory.
    """
    if image is None or not image.startswith(("./", "../", "/")):
        return None
    return Path(os.path.normpath(directory / image))


def _facts(inputs: ImageInputs, *, used: str) -> dict[str, str]:
    return {"file": inputs.what, "digest": inputs.digest, "used": used}
