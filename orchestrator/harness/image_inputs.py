"""What a project's image would be made of: found, read once, and named by a digest.

The same bytes are shown, consented to and built, so nothing can change in between.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

import rfc8785

from orchestrator.engine.dockerfile import BuildPlan, plan_build
from orchestrator.errors import UsageError
from orchestrator.harness.devcontainer import DevContainer
from orchestrator.schema.ids import Digest, digest_of
from orchestrator.workspace.build_context import ContextSpec, pack_build, read_text

_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ImageInputs:
    """One image's."""

    what: str
    """The file that describes it, as a person names it."""
    digest: Digest
    """Of everything below."""
    text: str
    """What is shown first: the Dockerfile, else the devcontainer.json."""
    image: str | None
    """The image to use as it is; None where one is built."""
    plan: BuildPlan = field(default_factory=lambda: BuildPlan((), ()))
    args: Mapping[str, str] = field(default_factory=dict)
    target: str | None = None
    context: IO[bytes] | None = None
    """The build context, at its start."""
    names: tuple[str, ...] = ()
    """The paths in it."""
    described: DevContainer | None = None

    def close(self) -> None:
        """Let the context go."""
        if self.context is not None:
            self.context.close()


def devcontainer_inputs(
    project: Path, described: DevContainer, *, hidden: tuple[str, ...]
) -> ImageInputs:
    """Return the inputs of what a devcontainer.json asks for."""
    told = {"devcontainer": described.text, "path": described.path}
    if described.dockerfile is None:
        return ImageInputs(
            described.path,
            digest_of(rfc8785.dumps(told)),
            described.text,
            described.image,
            described=described,
        )
    text = read_text(project, described.dockerfile)
    if text is None:
        raise UsageError(
            f"{described.path}: expected a Dockerfile at {described.dockerfile}, got no such file",
            hint="its path is relative to the file that names it",
        )
    context = ContextSpec(project, described.context, text, None, hidden)
    return _built(context, told=told, what=described.dockerfile, described=described)


def dockerfile_inputs(path: Path, *, project: Path, hidden: tuple[str, ...]) -> ImageInputs:
    """Return the inputs of a Dockerfile, whose own directory is the context.

    Within the project no link is followed on the way to it.
    """
    inside = path.is_relative_to(project)
    root = project if inside else path.parent
    name = path.relative_to(root)
    text = read_text(root, name.as_posix())
    if text is None:
        raise UsageError(f"--image {path}: no such file, or a link")
    context = ContextSpec(root, name.parent.as_posix(), text, None, hidden)
    return _built(context, told={}, what=str(path), described=None)


def _built(
    spec: ContextSpec, *, told: dict[str, str], what: str, described: DevContainer | None
) -> ImageInputs:
    args = dict(described.args) if described else {}
    target = described.target if described else None
    plan = plan_build(spec.dockerfile, args=args, name=what)
    context = tempfile.TemporaryFile(prefix="glovebox-context-")  # noqa: SIM115 - closed by the inputs
    try:
        names = pack_build(replace(spec, sources=plan.sources), context)
        parts = {**told, "args": args, "target": target, "context": _sha256(context)}
    except BaseException:
        context.close()
        raise
    return ImageInputs(
        what=what,
        digest=digest_of(rfc8785.dumps(parts)),
        text=spec.dockerfile,
        image=None,
        plan=plan,
        args=args,
        target=target,
        context=context,
        names=tuple(names),
        described=described,
    )


def _sha256(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()
