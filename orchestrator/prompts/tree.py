"""The texts that a prompt is put together from: shipped, and what the user or a project puts in their place."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import PromptError
from orchestrator.named_file import read_named

TEXTS = Path(__file__).parent / "texts"
SHIPPED = "shipped"
OVERRIDABLE = ("identity", "safety", "preferences", "project", "tools", "output")
"""What a user's ``NAME.md`` replaces."""
OF_A_PROJECT = ("tools", "output")
"""What a trusted project's ``NAME.md`` replaces: never who the model is, what is safe, or the frame
around what projects say."""
COMMANDS = frozenset(
    [
        "help",
        "model",
        "thinking",
        "skill",
        "compact",
        "tree",
        "label",
        "rewind",
        "diff",
        "apply",
        "discard",
        "cost",
        "policy",
        "fork",
        "export",
        "abort",
        "quit",
    ]
)
"""What ``/NAME`` means in a chat already, so that no template can be called so."""
MAX_BYTES = 64 * 1024
"""Of one text of the user's."""


@dataclass(frozen=True, slots=True)
class Source:
    """One text and where it is from."""

    text: str
    place: str
    """``shipped`` or the file."""
    of_project: bool = False


@dataclass(frozen=True, slots=True)
class Texts:
    """All texts by name, and what there is to say about files that were left out."""

    by_name: Mapping[str, Source]
    notes: tuple[str, ...] = ()


def shipped_texts() -> Texts:
    """Return the texts of the package."""
    return Texts(
        {path.stem: Source(path.read_text("utf-8"), SHIPPED) for path in TEXTS.glob("*.md")}
    )


def with_users(texts: Texts, folder: Path) -> Texts:
    """Return the texts with those of the user's own folder in their place.

    Raises PromptError for a file that cannot be read: what a person wrote is not left out in
    silence.
    """
    try:
        names = sorted(path.name for path in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return texts
    except OSError as err:
        raise PromptError(f"{folder}: cannot be read: {err.strerror}") from err
    found = dict(texts.by_name)
    for name in names:
        stem = name.removesuffix(".md")
        if name.endswith(".md") and stem in OVERRIDABLE:
            path = folder / name
            found[stem] = Source(read_text(path), str(path))
    return Texts(found, (*texts.notes, *_strange(folder, names)))


def with_projects(texts: Texts, files: Mapping[str, str], *, folder: str) -> Texts:
    """Return the texts with those of a trusted project in their place; ``files`` by file name.

    A text of the user's own stays.
    """
    found, notes = dict(texts.by_name), list(texts.notes)
    for name, text in sorted(files.items()):
        stem = name.removesuffix(".md")
        if stem not in OF_A_PROJECT:
            if stem in OVERRIDABLE or stem in found:
                notes.append(f"{folder}/{name}: a project cannot replace this; left out")
        elif found[stem].place == SHIPPED:
            found[stem] = Source(text, f"{folder}/{name}", of_project=True)
    return Texts(found, tuple(notes))


def read_text(path: Path) -> str:
    """Return a text of the user's; PromptError with the place for what is none."""
    try:
        data = read_named(path, limit=MAX_BYTES)
    except OSError as err:
        raise PromptError(f"{path}: cannot be read: {err.strerror}") from err
    return text_of(data, str(path))


def text_of(data: bytes, place: str) -> str:
    """Return the text that a file's bytes are; PromptError for too many, and for what is no UTF-8."""
    if len(data) > MAX_BYTES:
        raise PromptError(f"{place}: expected at most {MAX_BYTES} bytes, got more")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        line = data.count(b"\n", 0, err.start) + 1
        raise PromptError(f"{place}:{line}: expected UTF-8 text") from err


def _strange(folder: Path, names: Iterable[str]) -> list[str]:
    notes = []
    for name in names:
        stem = name.removesuffix(".md")
        if name.endswith(".md") and stem not in OVERRIDABLE:
            close = difflib.get_close_matches(stem, OVERRIDABLE, n=1)
            what = f"did you mean {close[0]}.md?" if close else f"known: {', '.join(OVERRIDABLE)}"
            notes.append(f"{folder / name}: no text of a prompt is called so; {what}")
    return notes
