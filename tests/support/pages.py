"""Reading exported pages: by a parser, and by a real browser where there is one."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
VOID = frozenset({"meta", "img", "br", "hr", "link", "input"})


@dataclass
class Page(HTMLParser):
    """All elements of a page, with their attributes, and its text."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: str = ""
    unbalanced: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    @classmethod
    def of(cls, source: str) -> Page:
        page = cls()
        page.feed(source)
        page.close()
        page.unbalanced += page._open
        return page

    def handle_starttag(self, tag, attrs) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag) -> None:
        if not self._open or self._open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data) -> None:
        self.text += data

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]

    def values(self, attribute: str) -> list[str]:
        return [given[attribute] or "" for _, given in self.elements if attribute in given]


def browser() -> str:
    """Return the program of a browser; skips where this machine has none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser here: none of {', '.join(BROWSERS)}")
    return found


def rendered(path: Path) -> str:
    """Return the document as the browser has it after all that runs has run."""
    done = subprocess.run(
        [
            browser(),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=2000",
            f"--user-data-dir={path.parent / 'profile'}",
            "--dump-dom",
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout
