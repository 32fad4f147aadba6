"""Images: the sandbox image is built when its content changed, named by content, and pruned."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from docker.errors import APIError

from orchestrator.config.assets import asset
from orchestrator.engine.base_image import BASE, Progress, ensure_base, present_image
from orchestrator.engine.client import Engine
from orchestrator.engine.failure import translated
from orchestrator.engine.image_context import (
    REPOSITORY,
    ContextFile,
    image_name,
    pack_context,
    read_context,
)
from orchestrator.errors import EngineError
from orchestrator.schema.ids import Digest

LATEST = f"{REPOSITORY}:latest"

_BASE_LABEL = "glovebox.base"
"""Holds the id of the base an image was built on; a newer base makes the image stale."""

_KIND_LABEL = "glovebox.kind"
_KIND = "sandbox-image"
"""The label by which built images are found again."""

_OWN_NAME = re.compile(REPOSITORY + r":[0-9a-f]{12}")

_STEP = re.compile(r"Step (\d+)/(\d+) : (\w+)")


@dataclass(frozen=True, slots=True)
class SandboxImage:
    """One built sandbox image."""

    name: str
    """``glovebox/sandbox:`` and twelve hex digits of its content."""
    digest: Digest
    """The image's id, which an engine accepts in place of the name."""

    def __str__(self) -> str:
        return f"{self.name}@{self.digest}"


@dataclass(frozen=True, slots=True)
class ListedImage:
    """One line of the list of sandbox images."""

    name: str
    digest: Digest
    created: int
    """Seconds since the epoch."""
    size: int
    """Bytes, layers shared with others counted in full."""
    current: bool
    """True where it is what the present sources would give."""


def ensure_sandbox_image(
    engine: Engine, progress: Progress, *, force: bool = False
) -> SandboxImage:
    """Return the image of the present sources; builds it where it lacks or its base changed."""
    files = read_context(asset("sandbox-image"))
    found = None if force else current_image(engine, files)
    if found is None:
        found = build_image(engine, files, base=ensure_base(engine, progress), progress=progress)
        with translated(f"name {found.name} {LATEST}"):
            engine.api.tag(found.name, REPOSITORY, "latest")
    return found


def current_image(engine: Engine, files: list[ContextFile]) -> SandboxImage | None:
    """Return the image of these sources where it is there and stands on the present base."""
    name = image_name(files)
    found = present_image(engine, name)
    if found is None:
        return None
    base = present_image(engine, BASE)
    labels = found["Config"].get("Labels") or {}
    # Without a base nothing says that the image is old: whoever pruned the base keeps it.
    if base is not None and labels.get(_BASE_LABEL) != base["Id"]:
        return None
    return SandboxImage(name, Digest(found["Id"]))


def image_digest(engine: Engine, name: str) -> Digest:
    """Return the id that ``name`` stands for; EngineError when the engine has no such image."""
    found = present_image(engine, name)
    if found is None:
        own = name.startswith(f"{REPOSITORY}:")
        raise EngineError(
            f"image {name}: the engine does not have it",
            hint="run `glovebox image build`" if own else f"run `docker pull {name}`",
        )
    return Digest(found["Id"])


def image_environment(engine: Engine, name: str) -> tuple[str, ...]:
    """Return the image's own variables, each ``NAME=value``; EngineError when it is missing."""
    found = present_image(engine, name)
    if found is None:
        raise EngineError(
            f"image {name}: the engine does not have it", hint="run `glovebox image build`"
        )
    return tuple(str(entry) for entry in (found.get("Config") or {}).get("Env") or ())


def list_images(engine: Engine, current: str) -> list[ListedImage]:
    """Return the sandbox images by age, newest first; ``current`` is the expected name."""
    with translated("list images"):
        found = engine.api.images(filters={"label": f"{_KIND_LABEL}={_KIND}"})
    listed = [
        ListedImage(name, Digest(item["Id"]), item["Created"], item["Size"], name == current)
        for item in found
        for name in _names(item)
    ]
    return sorted(listed, key=lambda image: (-image.created, image.name))


def _names(item: Mapping[str, Any]) -> list[str]:
    """Return the names we gave an image, or its id once a rebuild has taken its name."""
    tags = [tag for tag in item.get("RepoTags") or () if tag != "<none>:<none>"]
    return [tag for tag in tags if _OWN_NAME.fullmatch(tag)] if tags else [item["Id"]]


def prune_images(engine: Engine, current: str) -> tuple[list[str], list[str]]:
    """Remove all sandbox images but the current one; returns (removed, kept because in use)."""
    removed, kept = [], []
    for image in list_images(engine, current):
        if image.current:
            continue
        with translated(f"remove image {image.name}"):
            try:
                engine.api.remove_image(image.name)
            except APIError as err:
                if err.status_code != 409:
                    raise
                kept.append(image.name)
            else:
                removed.append(image.name)
    return removed, kept


def build_image(
    engine: Engine, files: list[ContextFile], *, base: Digest, progress: Progress
) -> SandboxImage:
    """Build the image of these sources on the present base and return it."""
    name = image_name(files)
    progress(f"building {name}")
    with translated(f"build {name}"):
        events = engine.api.build(
            fileobj=io.BytesIO(pack_context(files)),
            custom_context=True,
            tag=name,
            buildargs={"BASE_IMAGE": BASE},
            labels={_BASE_LABEL: base, _KIND_LABEL: _KIND},
            rm=True,
            forcerm=True,
            decode=True,
        )
        follow_build(events, name=name, progress=progress)
    return SandboxImage(name, image_digest(engine, name))


def follow_build(events: Iterable[Mapping[str, Any]], *, name: str, progress: Progress) -> None:
    """Report each step of a build; raises EngineError with the build's last words if it fails."""
    said: list[str] = []
    failed = ""
    # Read to the end, also after a failure: a stream that is left open leaves its connection so.
    for event in events:
        failed = failed or str(event.get("error", "")).strip()
        text = str(event.get("stream", "")).strip()
        said += text.splitlines()
        step = _STEP.match(text)
        if step:
            progress(f"step {step[1]} of {step[2]}: {step[3]}")
    if failed:
        raise EngineError(
            f"build {name}: {failed}; its last words:\n" + "\n".join(said[-12:]),
            hint="mend what it names, then run `glovebox image build`",
        )
