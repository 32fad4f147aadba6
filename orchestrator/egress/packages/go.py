"""go: its module proxies and checksum database by its own environment."""

from __future__ import annotations

import re

from orchestrator.egress.packages.client import (
    Client,
    Named,
    each_once,
    no_index,
    nothing_announced,
)

_COMMAND = """
command -v go >/dev/null || exit 127
GOFLAGS=-mod=mod GOTOOLCHAIN=local go env GOPROXY GOSUMDB
"""

_ZIP = re.compile(r"([^/].*)/@v/([^/]+)\.(?:zip)$")
_UPPER = re.compile(r"!([a-z])")
_PLAIN_NAME = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:/\S*)?")


def addresses(said: str) -> list[str]:
    """Return the proxies and the checksum database; ValueError where go uses neither."""
    proxies, _, rest = said.partition("\n")
    found = re.split(r"[,|]", proxies.strip())
    database = rest.strip().split()
    if len(database) > 1:
        found.append(database[1])
    elif database and _PLAIN_NAME.fullmatch(name := database[0].partition("+")[0]):
        found.append(f"https://{name}")
    if not each_once(found):
        raise ValueError("go fetches from no module proxy")
    return each_once(found)


def artefact(path: str) -> Named | None:
    """Return what a module's archive is called; ``!x`` in an address is a capital letter."""
    found = _ZIP.search(path)
    if found is None:
        return None
    name, version = (_UPPER.sub(lambda one: one[1].upper(), part) for part in found.groups())
    return Named(name, version, f"{version}.zip")


GO = Client("go", _COMMAND, addresses, artefact, no_index, nothing_announced)
