"""apt: its archives by its own list of what it would fetch, whatever form the sources have."""

from __future__ import annotations

from urllib.parse import unquote

from orchestrator.egress.packages.client import (
    Client,
    Named,
    each_once,
    no_index,
    nothing_announced,
)

_COMMAND = """
command -v apt-get >/dev/null || exit 127
apt-get indextargets --no-release-info --format '$(REPO_URI)'
"""
"""Without the release's own word, since no list was fetched yet in most images."""


def addresses(said: str) -> list[str]:
    """Return the archives; ValueError where there is none that is fetched by http or https."""
    found = each_once([line.strip().removeprefix("mirror+") for line in said.splitlines()])
    if not found:
        raise ValueError("apt has no source that is fetched by http or https")
    return found


def artefact(path: str) -> Named | None:
    """Return what a package's file name says: ``NAME_VERSION_ARCHITECTURE.deb``."""
    file = path.rpartition("/")[2]
    if not file.endswith((".deb", ".udeb")):
        return None
    name, _, rest = file.partition("_")
    return Named(name, unquote(rest.rpartition("_")[0]), file)


APT = Client("apt", _COMMAND, addresses, artefact, no_index, nothing_announced)
