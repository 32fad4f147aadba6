"""What a project's image would be made of: found, read once, and named by a digest.

The same bytes are shown, consented to and built, so nothing can change in between.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
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
        raise UsageError(f"{described.path}: {described.dockerfile}: no such file")
    root = project / described.context
    return _built(
        root, text, told=told, what=described.dockerfile, described=described, hidden=hidden
    )


def dockerfile_inputs(path: Path, *, hidden: tuple[str, ...]) -> ImageInputs:
    """Return the inputs of a Dockerfile, whose own directory is the context."""
    text = read_text(path.parent, path.name)
    if text is None:
        raise UsageError(f"--image {path}: no such file, or a link")
    return _built(path.parent, text, told={}, what=str(path), described=None, hidden=hidden)


def _built(
    root: Path,
    text: str,
    *,
    told: dict[str, str],
    what: str,
    described: DevContainer | None,
    hidden: tuple[str, ...],
) -> ImageInputs:
    args = dict(described.args) if described else {}
    target = described.target if described else None
    plan = plan_build(text, args=args, name=what)
    context = tempfile.TemporaryFile(prefix="glovebox-context-")  # noqa: SIM115 - closed by the inputs
    try:
        names = pack_build(ContextSpec(root, text, plan.sources, hidden), context)
        parts = {**told, "args": args, "target": target, "context": _sha256(context)}
    except BaseException:
        context.close()
        raise
    return ImageInputs(
        what=what,
        digest=digest_of(rfc8785.dumps(parts)),
        text=text,
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
