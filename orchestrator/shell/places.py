"""What a path is to the box: workspace, scratch, start-up file, key, device, system."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from orchestrator.shell.programs import read_table
from orchestrator.shell.scope import Scope

Kind = Literal["own", "terminal", "harmless", "socket", "device", "git", "startup", "system"]
"""Groups of the table that matter to writing."""


class PlaceTable(BaseModel):
    """``tables/places.yaml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    own: tuple[str, ...]
    terminal: tuple[str, ...]
    harmless: tuple[str, ...]
    socket: tuple[str, ...]
    device: tuple[str, ...]
    git: tuple[str, ...]
    startup: tuple[str, ...]
    system: tuple[str, ...]
    secret: tuple[str, ...]
    private: tuple[str, ...]


@cache
def _groups() -> dict[str, re.Pattern[str]]:
    file = resources.files("orchestrator.shell").joinpath("tables/places.yaml")
    table = PlaceTable.model_validate(read_table(file))
    return {name: re.compile("|".join(lines)) for name, lines in table.model_dump().items()}


def kind_of(path: str) -> Kind | None:
    """Return the first group an absolute path falls into; None for plain places."""
    groups = _groups()
    for kind in get_args(Kind):
        if groups[kind].search(path):
            found: Kind = kind
            return found
    return None


def is_secret(path: str) -> bool:
    """Say whether reading the path shows a key."""
    return _groups()["secret"].search(path) is not None


def is_private(path: str) -> bool:
    """Say whether the path is a settings file that often holds a key."""
    return _groups()["private"].search(path) is not None


def is_root_or_home(path: str, scope: Scope) -> bool:
    """Say whether losing this tree means losing the system or a home."""
    home = scope.places.home
    if path in {"/", "/*", home, home + "/*", "/root", "/home", "/root/*", "/home/*"}:
        return True
    return re.fullmatch(r"/[^/]+(/\*)?|/home/[^/]+(/\*)?", path) is not None and not (
        scope.inside(path) or path in {"/tmp", "/tmp/*"}  # noqa: S108 - a place to judge, not to use
    )
