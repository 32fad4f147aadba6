"""The glove on any image: a layer with our runtime, the session's places and the user's name.

No program of the image runs for it: files go in and out of a container that is never started, and
what was put in is read back and compared. The result is named by what it is made of, so that a
second start finds it.
"""

from __future__ import annotations

import hashlib
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any

from orchestrator.engine.archives import Still, still_container, tree_digest
from orchestrator.engine.base_image import present_image
from orchestrator.engine.client import Engine
from orchestrator.engine.failure import translated
from orchestrator.engine.labels import KIND, OWNER, SESSION, owner_label
from orchestrator.engine.layer_files import RUNTIME, pack_layer
from orchestrator.engine.trust_files import MOST, trust_files
from orchestrator.engine.user_files import MAX_BYTES, BoxUser, group_with, passwd_with
from orchestrator.errors import EngineError
from orchestrator.schema.ids import Digest

REPOSITORY = "glovebox/layer"
LAYER_KIND = "layer"
OF_LABEL = "glovebox.of"
"""The name the image had when the layer was made."""
OF_DIGEST_LABEL = "glovebox.of-digest"
RUNTIME_LABEL = "glovebox.runtime"
USER_LABEL = "glovebox.user"

FORMAT = b"2"
"""Of the layer itself; another number makes every layer anew."""
SHIPPED_USER = (1000, 1000)
"""The uid and gid that the sandbox image already has a name for."""


@dataclass(frozen=True, slots=True)
class BoxImage:
    """An image a box can start from, and the one it was made of."""

    name: str
    digest: Digest
    of: str
    """What policy, flag or project named."""
    of_digest: Digest
    prepared_in: str = ""
    """Audit chain of the steps that policy had taken on it; empty without steps."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a layer is made from."""

    of: str
    """Name of the image."""
    runtime: Digest
    """The sandbox image whose runtime is copied."""
    user: BoxUser
    workdir: str

    def layer_name(self, of_digest: Digest) -> str:
        """Return the layer's name, by content."""
        user, digest = self.user, hashlib.sha256(FORMAT)
        for field in (of_digest, self.runtime, f"{user}", self.workdir):
            digest.update(field.encode() + b"\0")
        return f"{REPOSITORY}:{digest.hexdigest()[:12]}"


def ensure_layer(engine: Engine, recipe: Recipe, progress: Callable[[str], None]) -> BoxImage:
    """Return the image with the glove's layer; makes it where the engine has none.

    Raises EngineError for an image that is missing, of another platform, or that does not keep
    what is put into it.
    """
    base = _inspect(engine, recipe.of)
    digest = Digest(base["Id"])
    user = recipe.user
    if digest == recipe.runtime and (user.uid, user.gid) == SHIPPED_USER:
        return BoxImage(recipe.of, digest, recipe.of, digest)
    name = recipe.layer_name(digest)
    found = present_image(engine, name)
    labels = (found or {}).get("Config", {}).get("Labels") or {}
    if found is None or labels.get(OF_DIGEST_LABEL) != digest:
        _check_platform(recipe.of, base, _inspect(engine, recipe.runtime))
        progress(f"making {recipe.of} ready for the box (once)")
        _make(engine, recipe, base, name)
        found = _inspect(engine, name)
    return BoxImage(name, Digest(found["Id"]), recipe.of, digest)


def _make(engine: Engine, recipe: Recipe, base: dict[str, Any], name: str) -> None:
    digest = Digest(base["Id"])
    with _flattened(engine, base, name) as image, _still(engine, image) as still:
        user = recipe.user
        files = [
            ("/etc/passwd", passwd_with(user, still.file("/etc/passwd", most=MAX_BYTES))),
            ("/etc/group", group_with(user, still.file("/etc/group", most=MAX_BYTES))),
        ]
        links: list[tuple[str, str]] = []
        runtime: IO[bytes] | None = None
        with ExitStack() as stack:
            if digest != recipe.runtime:
                source = stack.enter_context(_still(engine, recipe.runtime))
                runtime = stack.enter_context(_spool())
                source.tree(f"/{RUNTIME}", runtime)
                trusted, links = trust_files(_reader(still), _reader(source))
                files += trusted
            archive = stack.enter_context(_spool())
            pack_layer(archive, user, files, links=links, runtime=runtime, workdir=recipe.workdir)
            still.put(archive)
            if runtime is not None:
                _check_kept(still, recipe.of, tree_digest(runtime))
        environment = base["Config"].get("Env") or []
        _commit(engine, still, recipe, digest=digest, name=name, environment=environment)


@contextmanager
def _flattened(engine: Engine, base: dict[str, Any], name: str) -> Iterator[str]:
    """Give the image, or where it declares volumes its files as an image without settings.

    Nothing else takes a VOLUME away, and each would be a writable directory in every box.
    """
    if not base["Config"].get("Volumes"):
        yield base["Id"]
        return
    plain = f"{name}-files"
    repository, tag = plain.split(":")
    with _still(engine, base["Id"]) as still, translated(f"copy the files of {base['Id'][:19]}"):
        files = engine.api.export(still.id)
        engine.api.import_image_from_stream(files, repository=repository, tag=tag)
    try:
        yield plain
    finally:
        with translated(f"remove {plain}"):
            engine.api.remove_image(plain, noprune=True)


def _still(engine: Engine, image: str) -> AbstractContextManager[Still]:
    name = f"glovebox-layer-{secrets.token_hex(6)}"
    # By these marks it is swept away when this process dies.
    return still_container(engine, image, name=name, labels=_marks())


def _reader(still: Still) -> Callable[[str], bytes | None]:
    return lambda path: still.plain_file(path, most=MOST)


def _check_kept(still: Still, image: str, wanted: str) -> None:
    with _spool() as kept:
        still.tree(f"/{RUNTIME}", kept)
        # A link or a volume of the image on the way, or an old file of its own left behind.
        if tree_digest(kept) != wanted:
            raise EngineError(
                f"image {image}: it does not keep what is put into /{RUNTIME} as it is",
                hint="use an image that has nothing of its own there",
            )


def _spool() -> IO[bytes]:
    """Return an empty file that goes away when it is closed."""
    return tempfile.TemporaryFile(prefix="glovebox-layer-")


def _commit(
    engine: Engine,
    still: Still,
    recipe: Recipe,
    *,
    digest: Digest,
    name: str,
    environment: list[str],
) -> None:
    repository, tag = name.split(":")
    labels = {
        # The container's own marks would make whatever starts from the image look like its.
        **dict.fromkeys(_marks(), ""),
        KIND: LAYER_KIND,
        OF_LABEL: recipe.of,
        OF_DIGEST_LABEL: digest,
        RUNTIME_LABEL: recipe.runtime,
        USER_LABEL: f"{recipe.user.uid}:{recipe.user.gid}",
    }
    with translated(f"save {name}"):
        engine.api.commit(
            still.id, repository=repository, tag=tag, conf={"Labels": labels, "Env": environment}
        )


def _marks() -> dict[str, str]:
    return {SESSION: "layer", OWNER: owner_label(), KIND: "copier"}


def _inspect(engine: Engine, name: str) -> dict[str, Any]:
    found = present_image(engine, name)
    if found is None:
        raise EngineError(f"image {name}: the engine does not have it")
    return found


def _check_platform(name: str, image: dict[str, Any], shipped: dict[str, Any]) -> None:
    got, expected = ((found.get("Os"), found.get("Architecture")) for found in (image, shipped))
    if got != expected:
        raise EngineError(
            f"image {name}: expected {'/'.join(map(str, expected))}, got {'/'.join(map(str, got))}",
            hint="pull it for this platform: docker pull --platform "
            f"{'/'.join(map(str, expected))} {name}",
        )
