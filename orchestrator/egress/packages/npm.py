"""npm: its registries, scoped ones too, by its own settings; tarballs by a package's document."""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import urldefrag, urljoin

from orchestrator.egress.packages.client import Announced, Client, Link, Named, Page, each_once
from orchestrator.egress.packages.json_page import json_object, rows, text_of

_COMMAND = """
command -v npm >/dev/null || exit 127
npm config list --json -l
"""

_TARBALL = re.compile(r"(?:^|/)((?:@[^/]+/)?([^/@][^/]*))/-/(?:@[^/]+/)?([^/]+)\.tgz$")
_MEDIA = ("application/json", "application/vnd.npm.install-v1+json")
_ALGORITHMS = ("sha512", "sha384", "sha256", "sha1")


def addresses(said: str) -> list[str]:
    """Return the registry and those of scopes; ValueError where npm named none."""
    settings = json_object(said.encode())
    found = [text_of(settings, name) for name in settings if _is_registry(name)]
    if not each_once(found):
        raise ValueError("npm's settings name no registry")
    return each_once(found)


def _is_registry(name: str) -> bool:
    return name == "registry" or (name.startswith("@") and name.endswith(":registry"))


def artefact(path: str) -> Named | None:
    """Return what a tarball's address says."""
    found = _TARBALL.search(path)
    if found is None:
        return None
    return Named(found[1], found[3].removeprefix(f"{found[2]}-"), f"{found[3]}.tgz")


def is_index(path: str, media: str) -> bool:
    """Say whether it is a package's document."""
    return media in _MEDIA and "/-/" not in path


def announced(page: Page) -> Announced:
    """Return the tarballs of all versions."""
    document = json_object(page.body)
    versions = document.get("versions")
    # The document of one version has no list of them.
    listed = rows(list(versions.values())) if isinstance(versions, dict) else [document]
    links = []
    for row in listed:
        dist = row.get("dist")
        if not isinstance(dist, dict) or not text_of(dist, "tarball"):
            continue
        url = urldefrag(urljoin(page.url, text_of(dist, "tarball"))).url
        name = text_of(row, "name") or text_of(document, "name")
        file = url.partition("?")[0].rpartition("/")[2]
        links.append(Link(url, Named(name, text_of(row, "version"), file), _digests(dist)))
    return Announced(links)


def _digests(dist: dict[str, object]) -> tuple[str, ...]:
    found = []
    for part in text_of(dist, "integrity").split():
        algorithm, _, value = part.partition("?")[0].partition("-")
        if algorithm in _ALGORITHMS:
            try:
                found.append(f"{algorithm}:{base64.b64decode(value, validate=True).hex()}")
            except binascii.Error:
                continue
    if shasum := text_of(dist, "shasum"):
        found.append(f"sha1:{shasum.lower()}")
    return tuple(found)


NPM = Client("npm", _COMMAND, addresses, artefact, is_index, announced)
