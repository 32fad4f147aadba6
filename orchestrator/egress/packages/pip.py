"""pip: its index by its own help, further ones by its settings; the simple API in JSON and HTML."""

from __future__ import annotations

import ast
import re
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin

from orchestrator.egress.packages.client import Announced, Client, Link, Named, Page, each_once
from orchestrator.egress.packages.json_page import json_object, rows, text_of

_COMMAND = """
for pip in pip3 pip; do command -v "$pip" >/dev/null && break; pip=; done
[ -n "$pip" ] || exit 127
COLUMNS=100000 "$pip" install --help && "$pip" config list
"""
"""The help shows the index that holds, default or set; a narrow terminal would break the line."""

_DEFAULT = re.compile(r"--index-url <url>.*?\(default:? (\S+)\)")
_SETTING = re.compile(r"^\S*\.(index-url|extra-index-url|find-links)=(.+)$", re.MULTILINE)
_SIMPLE = "application/vnd.pypi.simple."
_ENDINGS = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".zip", ".egg")
_DIGEST = re.compile(r"(sha256|sha384|sha512|sha1|md5)=([0-9a-fA-F]+)")


def addresses(said: str) -> list[str]:
    """Return the addresses in pip's help and settings; ValueError where it names no index."""
    shown = _DEFAULT.search(said)
    if shown is None:
        raise ValueError("pip's help names no index")
    found = [shown[1]]
    for key, value in _SETTING.findall(said):
        urls = str(ast.literal_eval(value)).split()
        found += [_folder(url) if key == "find-links" else url for url in urls]
    return each_once(found)


def _folder(page: str) -> str:
    return page.rpartition("/")[0] + "/"


def artefact(path: str) -> Named | None:
    """Return what a wheel's or source archive's file name says."""
    file = path.rpartition("/")[2]
    if file.endswith(".whl"):
        parts = file.removesuffix(".whl").split("-")
        return Named(parts[0], parts[1] if len(parts) > 1 else "", file)
    for ending in _ENDINGS:
        if file.endswith(ending):
            name, _, version = file.removesuffix(ending).rpartition("-")
            return Named(name or version, version if name else "", file)
    return None


def is_index(_path: str, media: str) -> bool:
    """Say whether it is a project's page."""
    return media.startswith(_SIMPLE) or media == "text/html"


def announced(page: Page) -> Announced:
    """Return the files that a project's page names, and their metadata."""
    if page.media.endswith("json"):
        return Announced(_json_links(page))
    reader = _Links(page.url)
    reader.feed(page.body.decode("utf-8", "replace"))
    reader.close()
    return Announced(reader.links)


def _json_links(page: Page) -> list[Link]:
    links = []
    for row in rows(json_object(page.body).get("files")):
        url = urldefrag(urljoin(page.url, text_of(row, "url"))).url
        links.append(Link(url, artefact(text_of(row, "filename")), _digests(row.get("hashes"))))
        metadata = row.get("core-metadata", row.get("data-dist-info-metadata"))
        if metadata:
            links.append(Link(f"{url}.metadata", None, _digests(metadata)))
    return links


def _digests(hashes: object) -> tuple[str, ...]:
    if not isinstance(hashes, dict):
        return ()
    return tuple(f"{name}:{value}".lower() for name, value in hashes.items())


class _Links(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__()
        self.links: list[Link] = []
        self._base = url

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "base" and "href" in given:
            self._base = urljoin(self._base, given["href"])
        elif tag == "a" and "href" in given:
            url, fragment = urldefrag(urljoin(self._base, given["href"]))
            digests = tuple(f"{name}:{value}".lower() for name, value in _DIGEST.findall(fragment))
            self.links.append(Link(url, artefact(url.partition("?")[0]), digests))
            if "data-core-metadata" in given or "data-dist-info-metadata" in given:
                self.links.append(Link(f"{url}.metadata", None))


PIP = Client("pip", _COMMAND, addresses, artefact, is_index, announced)
