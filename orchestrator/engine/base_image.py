"""The bare Debian beneath the sandbox image: the one present, else pulled, else made here."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docker.errors import ImageNotFound

from orchestrator.config.assets import asset
from orchestrator.engine.client import Engine
from orchestrator.engine.failure import translated
from orchestrator.errors import EngineError
from orchestrator.schema.ids import Digest

Progress = Callable[[str], None]
"""Called with one line a step, for people."""

BASE = "glovebox/base:bookworm"
PUBLISHED = "debian:bookworm-slim"

_REGISTRY_TIMEOUT_S = 8
"""How long a registry may take to name the image; the bootstrap takes a minute at most."""


_REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@+-]{0,511}")


def present_image(engine: Engine, name: str) -> dict[str, Any] | None:
    """Return what the engine knows of an image, None where it has none by that name.

    Raises EngineError for what can be no image's name: it may come from a repository, and becomes
    part of a request to the engine.
    """
    if not _REFERENCE.fullmatch(name) or ".." in name:
        raise EngineError(f"image {name!r}: expected an image's name")
    with translated(f"look up image {name}"):
        try:
            found: dict[str, Any] = engine.api.inspect_image(name)  # type: ignore[no-untyped-call]  # the stubs' gap
        except ImageNotFound:
            return None
    return found


def ensure_base(engine: Engine, progress: Progress) -> Digest:
    """Return the id of ``BASE``; pulls it where a registry answers, else makes it here."""
    found = present_image(engine, BASE)
    if found is None:
        if present_image(engine, PUBLISHED) is None and _registry_has(engine, PUBLISHED):
            _pull(engine, PUBLISHED, progress)
        if present_image(engine, PUBLISHED) is not None:
            repository, tag = BASE.split(":")
            with translated(f"name {PUBLISHED} {BASE}"):
                engine.api.tag(PUBLISHED, repository, tag)
        else:
            _bootstrap(engine, progress)
        found = present_image(engine, BASE)
    if found is None:
        raise EngineError(f"base image: made {BASE}, but the engine does not have it")
    return Digest(found["Id"])


def _registry_has(engine: Engine, name: str) -> bool:
    """Ask, through the engine, whether a registry answers for ``name`` soon; False is no error."""
    api = engine.api
    try:
        answer = api.get(
            f"{api.base_url}/v{api.api_version}/distribution/{name}/json",
            timeout=_REGISTRY_TIMEOUT_S,
        )
    # Silence, in whichever form, means the same: this machine makes its own base.
    except OSError:
        return False
    return bool(answer.ok)


def _pull(engine: Engine, name: str, progress: Progress) -> None:
    progress(f"pulling {name}")
    repository, tag = name.split(":")
    failed = ""
    with translated(f"pull {name}"):
        # Read to the end, also after a failure, so that the connection does not stay open.
        for event in engine.api.pull(repository, tag=tag, stream=True, decode=True):
            failed = failed or str(event.get("error", ""))
    if failed:
        raise EngineError(f"pull {name}: {failed}")


def _bootstrap(engine: Engine, progress: Progress) -> None:
    there, here = engine.info().architecture, os.uname().machine
    if there != here:
        raise EngineError(
            f"base image: the engine is {there} and this machine {here}, so it cannot be made here",
            hint=f"let the engine pull it: docker pull {PUBLISHED}",
        )
    progress("no image registry answers; making a Debian base image (about a minute)")
    with tempfile.TemporaryDirectory(prefix="glovebox-base-") as folder:
        archive = Path(folder) / "base.tar"
        _run_bootstrap(archive, progress)
        progress("importing the base image")
        repository, tag = BASE.split(":")
        with archive.open("rb") as data, translated(f"import {BASE}"):
            engine.api.import_image_from_data(data, repository=repository, tag=tag)


def _run_bootstrap(archive: Path, progress: Progress) -> None:
    script = asset("sandbox-image") / "bootstrap-base.sh"
    lines: list[str] = []
    with subprocess.Popen(
        ["/bin/sh", str(script), str(archive)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as child:
        for line in child.stderr or ():
            lines.append(line.rstrip())
            progress(lines[-1])
    if child.returncode != 0:
        own = [line for line in lines if line.startswith("bootstrap-base:")]
        raise EngineError(
            f"base image: {script.name} ended with {child.returncode}: " + "\n".join(lines[-8:]),
            hint=own[-1].removeprefix("bootstrap-base: ") if own else "",
        )
