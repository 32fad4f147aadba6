"""Images made for one test out of a handful of files, and removed after it."""

import io
import secrets
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from docker.errors import ImageNotFound

from orchestrator.engine.client import Engine
from orchestrator.engine.labels import OWNER
from orchestrator.engine.layers import OF_LABEL, Recipe, ensure_layer
from orchestrator.engine.user_files import BoxUser
from orchestrator.schema.ids import Digest

Entry = bytes | str | None
"""A file's content, a link's target, or None for a directory."""


def archive_of(entries: Mapping[str, Entry], *, mode: int = 0o755) -> bytes:
    """Return a tar of the entries, in order."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in entries.items():
            entry = tarfile.TarInfo(name)
            entry.mode = mode
            if content is None:
                entry.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
            else:
                entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content) if isinstance(content, bytes) else None)
    return buffer.getvalue()


@contextmanager
def imported_image(
    engine: Engine, entries: Mapping[str, Entry], *, changes: Sequence[str] = (), mode: int = 0o755
) -> Iterator[str]:
    """Give the name of an image with these files alone."""
    name = f"glovebox-test/{secrets.token_hex(6)}"
    engine.api.import_image_from_data(
        archive_of(entries, mode=mode), repository=name, tag="x", changes=list(changes)
    )
    try:
        yield f"{name}:x"
    finally:
        with suppress(ImageNotFound):
            engine.api.remove_image(f"{name}:x", force=True)


@contextmanager
def gloved(
    engine: Engine, image: str, *, runtime: str, ids: tuple[int, int] = (1000, 1000)
) -> Iterator[str]:
    """Give the name of an image's layer for a user, made anew."""
    digest = Digest(engine.api.inspect_image(runtime)["Id"])
    user = BoxUser(*ids, "agent", "/home/agent", "/opt/glovebox/bash")
    made = ensure_layer(engine, Recipe(image, digest, user, "/workspace"), lambda _line: None)
    try:
        yield made.name
    finally:
        if made.name != image:
            engine.api.remove_image(made.name, force=True)


def leftovers(engine: Engine, owner: str) -> list[str]:
    """Return the containers that this process has left, boxes aside."""
    found = engine.api.containers(all=True, filters={"label": f"{OWNER}={owner}"})
    return [name for item in found for name in item["Names"] if "layer" in name]


def drop_image(engine: Engine, name: str) -> None:
    """Remove an image and every layer that was made of it."""
    for item in engine.api.images(filters={"label": f"{OF_LABEL}={name}"}):
        engine.api.remove_image(item["Id"], force=True)
    engine.api.remove_image(name, force=True)
