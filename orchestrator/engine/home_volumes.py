"""Volumes that are a project's home in the box: found by label, kept until somebody removes them."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from docker.errors import APIError, NotFound

from orchestrator.engine.client import Engine
from orchestrator.engine.failure import translated
from orchestrator.engine.labels import KIND
from orchestrator.engine.volumes import (
    FOLDER_LABEL,
    HOME_KIND,
    HOST_LABEL,
    MADE_LABEL,
    PROJECT_LABEL,
)

_COUNT_S = 30.0
_STEP_S = 0.2


@dataclass(frozen=True, slots=True)
class HomeVolume:
    """One project's home."""

    name: str
    project: str
    """Absolute path of the project directory on the host."""
    folder: Path
    """What the state on this host knows of it."""


def made_mark(engine: Engine, name: str, *, project: str) -> str | None:
    """Return what tells the project's volume from a later one; None where there is none of it.

    Not the time that the engine tells: that moves on whenever a file is made in the home.
    """
    with translated(f"look for volume {name}"):
        try:
            found = engine.api.inspect_volume(name)
        except NotFound:
            return None
    labels = found.get("Labels") or {}
    if (labels.get(KIND), labels.get(PROJECT_LABEL)) != (HOME_KIND, project):
        return None
    return labels.get(MADE_LABEL) or None


def list_homes(engine: Engine) -> list[HomeVolume]:
    """Return the homes that this host made, in whatever state, by project."""
    here = [f"{KIND}={HOME_KIND}", f"{HOST_LABEL}={os.uname().nodename}"]
    with translated("list the homes of projects"):
        found = engine.api.volumes(filters={"label": here})["Volumes"] or []
    homes = [
        HomeVolume(
            name=str(volume["Name"]),
            project=str(volume["Labels"][PROJECT_LABEL]),
            folder=Path(volume["Labels"].get(FOLDER_LABEL, "")),
        )
        for volume in found
    ]
    return sorted(homes, key=lambda home: home.project)


def volume_sizes(engine: Engine) -> dict[str, int]:
    """Return the bytes in each volume by name; those that the engine does not tell lack.

    The engine counts at the moment, and only for one client at a time.
    """
    deadline = time.monotonic() + _COUNT_S
    while True:
        with translated("count what the volumes hold"):
            try:
                found = engine.api.df()["Volumes"] or []
            except APIError as err:
                if "already running" not in str(err) or time.monotonic() > deadline:
                    raise
            else:
                break
        time.sleep(_STEP_S)
    usage = {
        str(volume["Name"]): (volume.get("UsageData") or {}).get("Size", -1) for volume in found
    }
    return {name: size for name, size in usage.items() if size >= 0}
