"""Images made of others: layers for the box, builds of projects and policies; listed and pruned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from docker.errors import APIError

from orchestrator.engine.builds import BUILT_FROM_LABEL, BUILT_KIND, SOURCE_LABEL
from orchestrator.engine.client import Engine
from orchestrator.engine.failure import translated
from orchestrator.engine.labels import KIND
from orchestrator.engine.layers import LAYER_KIND, OF_DIGEST_LABEL, OF_LABEL, RUNTIME_LABEL
from orchestrator.schema.ids import Digest

_CONFLICT = 409
_NO_TAG = "<none>:<none>"


@dataclass(frozen=True, slots=True)
class MadeImage:
    """One of them."""

    name: str
    """A tag, or the id where another image has taken the tag."""
    digest: Digest
    kind: str
    """``layer`` or ``built``."""
    of: str
    """What it was made of, for people."""
    created: int
    """Seconds since the epoch."""
    size: int
    """Bytes, layers shared with others counted in full."""
    in_use: bool
    """True where a container stands on it."""
    lost: str
    """Why nothing can use it any more; empty where something can."""


def list_made(engine: Engine, *, runtime: Digest | None) -> list[MadeImage]:
    """Return all, layers first; ``runtime`` is the present sandbox image, None where there is none."""
    with translated("list images"):
        # Without those that only others stand on: an image whose name is gone is gone.
        everything = engine.api.images()
        used = {str(found["ImageID"]) for found in engine.api.containers(all=True)}
    present = {str(item["Id"]) for item in everything}
    made = []
    for item in everything:
        labels = item.get("Labels") or {}
        if labels.get(KIND) in {LAYER_KIND, BUILT_KIND}:
            lost = _lost(item, labels, present=present, runtime=runtime)
            made.append(_made(item, labels, in_use=item["Id"] in used, lost=lost))
    return sorted(made, key=lambda image: (image.kind == BUILT_KIND, -image.created, image.name))


def present_digests(engine: Engine) -> set[Digest]:
    """Return every image that the engine has, those without a name too."""
    with translated("list images"):
        return {Digest(item["Id"]) for item in engine.api.images(all=True)}


def prune_made(engine: Engine, *, runtime: Digest | None) -> tuple[list[str], list[str]]:
    """Remove those that nothing can use any more; returns (removed, kept because in use)."""
    removed: list[str] = []
    kept: list[str] = []
    # A layer that goes may have been the last to stand on a build, so look again after it.
    while True:
        lost = [image for image in list_made(engine, runtime=runtime) if image.lost]
        waiting = [image for image in lost if image.name not in {*removed, *kept}]
        if not waiting:
            return removed, kept
        for image in waiting:
            (removed if _remove(engine, image.name) else kept).append(image.name)


def _remove(engine: Engine, name: str) -> bool:
    with translated(f"remove image {name}"):
        try:
            engine.api.remove_image(name)
        except APIError as err:
            if err.status_code != _CONFLICT:
                raise
            return False
    return True


def _made(
    item: Mapping[str, Any], labels: Mapping[str, str], *, in_use: bool, lost: str
) -> MadeImage:
    tags = [tag for tag in item.get("RepoTags") or () if tag != _NO_TAG]
    return MadeImage(
        name=tags[0] if tags else str(item["Id"]),
        digest=Digest(item["Id"]),
        kind=labels[KIND],
        of=labels.get(OF_LABEL) or labels.get(SOURCE_LABEL) or "",
        created=int(item.get("Created") or 0),
        size=int(item.get("Size") or 0),
        in_use=in_use,
        lost=lost,
    )


def _lost(
    item: Mapping[str, Any],
    labels: Mapping[str, str],
    *,
    present: set[str],
    runtime: Digest | None,
) -> str:
    if not [tag for tag in item.get("RepoTags") or () if tag != _NO_TAG]:
        return "a newer one has its name"
    if labels[KIND] == LAYER_KIND:
        if labels.get(RUNTIME_LABEL) != runtime:
            return "it has the runtime of another sandbox image"
        return "" if labels.get(OF_DIGEST_LABEL, "") in present else "its image is gone"
    stands_on = [each for each in labels.get(BUILT_FROM_LABEL, "").split(",") if each]
    return "" if set(stands_on) <= present else "an image it was built from is gone"
