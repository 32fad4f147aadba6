"""cargo: its index by the address it would ask first, further ones by its settings."""

from __future__ import annotations

import re
import tomllib
from typing import Any
from urllib.parse import urljoin

from orchestrator.egress.packages.client import Announced, Client, Link, Named, Page, each_once
from orchestrator.egress.packages.json_page import json_object, rows, text_of

_COMMAND = r"""
command -v cargo >/dev/null || exit 127
for file in "${CARGO_HOME:-$HOME/.cargo}/config.toml" "${CARGO_HOME:-$HOME/.cargo}/config"; do
    [ -r "$file" ] && cat "$file" && break
done
echo; echo '#asked'
env | sed -n 's/^CARGO_REGISTRIES_.*_INDEX=/asked /p'
project=$(mktemp -d) && cd "$project" && mkdir src && : >src/lib.rs || exit 126
printf '[package]\nname = "asks"\nversion = "0.0.0"\n[dependencies]\nanything = "1"\n' >Cargo.toml
CARGO_NET_RETRY=0 CARGO_NET_OFFLINE=false CARGO_TERM_COLOR=never cargo fetch 2>&1
rm -rf "$project"
exit 0
"""
"""cargo shows its built-in index nowhere but in what it says when it cannot reach it."""

_ASKED = re.compile(r"failed to (?:download from|fetch) `(?:sparse\+)?(https?://[^`\s]+)`")
_NAMED = re.compile(r"^asked (?:sparse\+)?(\S+)$", re.MULTILINE)
_CRATE = re.compile(r"(?:^|/)([A-Za-z0-9_-]+)/([^/]+)/download$")
_FILE = re.compile(r"(?:^|/)([A-Za-z0-9_-]+?)-(\d+\.[^/]*)\.crate$")
_MARKER = re.compile(r"\{(?:crate|version|prefix|lowerprefix|sha256-checksum)\}")
_CONFIG = "config.json"


def addresses(said: str) -> list[str]:
    """Return the indexes; ValueError where cargo named none that is fetched file by file."""
    settings, _, asked = said.partition("#asked")
    found = [url.removesuffix(_CONFIG) for url in _ASKED.findall(asked)]
    found += _NAMED.findall(asked)
    try:
        found += _indexes(tomllib.loads(settings))
    except tomllib.TOMLDecodeError as err:
        raise ValueError(f"cargo's settings are no TOML: {err}") from err
    if not each_once(found):
        raise ValueError("cargo names no sparse index")
    return each_once(found)


def _indexes(settings: dict[str, Any]) -> list[str]:
    tables = [("registries", "index"), ("source", "registry")]
    found = []
    for table, key in tables:
        entries = settings.get(table)
        for row in rows(list(entries.values())) if isinstance(entries, dict) else ():
            address = text_of(row, key)
            if address.startswith("sparse+"):
                found.append(address.removeprefix("sparse+"))
    return found


def artefact(path: str) -> Named | None:
    """Return what a crate's address says."""
    found = _CRATE.search(path) or _FILE.search(path)
    return None if found is None else Named(found[1], found[2], f"{found[1]}-{found[2]}.crate")


def is_index(path: str, _media: str) -> bool:
    """Say whether it is an index's own settings, or a crate's file in it."""
    return artefact(path) is None


def announced(page: Page) -> Announced:
    """Return where the index keeps its crates, or the checksums in a crate's file.

    Crates lie below what the index's own settings say, which no author of a crate can write to.
    """
    if page.url.endswith(f"/{_CONFIG}"):
        return Announced(bases=[urljoin(page.url, _base(text_of(json_object(page.body), "dl")))])
    return Announced([_link(line) for line in page.body.splitlines() if line.strip()])


def _base(template: str) -> str:
    """Return what all addresses of crates begin with, up to a slash."""
    fixed = _MARKER.split(template)[0]
    return f"{template}/" if fixed == template else fixed[: fixed.rindex("/") + 1]


def _link(line: bytes) -> Link:
    row = json_object(line)
    name, version = text_of(row, "name"), text_of(row, "vers")
    # No address: the crate is found again by what its own address says.
    return Link(
        "", Named(name, version, f"{name}-{version}.crate"), (f"sha256:{text_of(row, 'cksum')}",)
    )


CARGO = Client("cargo", _COMMAND, addresses, artefact, is_index, announced)
