"""What a project says about itself, as data: cleaned, marked, and unable to leave its frame. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]+"
)
"""What a reader does not see and a model does; joiners that scripts and emoji need are not among them."""
MOST_PATH = 200
"""Characters of a path that a repository chose."""
_TAG = re.compile(
    r"[<\uff1c\ufe64](?=" + r"[^A-Za-z]{0,16}".join(["", *"projectfile"]) + ")", re.IGNORECASE
)
"""The frame's name, whatever stands between its letters."""
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file of a project that agents are meant to read."""

    name: str
    """Its path as the model may use it."""
    text: str
    source: str
    """The file on the host."""

    @property
    def end(self) -> str:
        """What closes its frame."""
        return "\n</project-file>"


def framed(file: ProjectFile) -> str:
    """Return the file in its frame; nothing in it looks like the frame's end."""
    return f'<project-file path="{quoted(file.name)}">\n{cleaned(file.text)}{file.end}'


def cleaned(text: str) -> str:
    """Return text without what hides in it: each run of invisible characters is told by its number."""
    plain = _SURROGATES.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    held = _TAG.sub("&lt;", plain)
    return _INVISIBLE.sub(lambda run: f"[{len(run[0])} invisible]", held).strip("\n")


def quoted(name: str) -> str:
    """Return a path on one line that ends no attribute."""
    flat = re.sub(r"\s+", " ", cleaned(name))
    return (
        flat.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    )


def deeper(paths: Sequence[str]) -> str:
    """Return the line that names files which are not read; empty for none."""
    if not paths:
        return ""
    rows = "\n".join(f"- {quoted(path)[:MOST_PATH]}" for path in paths)
    return f"More such notes lie deeper; read one before you change files beside it:\n{rows}"
