"""All templates at hand: shipped ones, a trusted project's, the user's; the later stands before the earlier."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.errors import PromptError
from orchestrator.named_file import read_named
from orchestrator.prompts.arguments import SAID, bind_values
from orchestrator.prompts.render import render
from orchestrator.prompts.template import Template, Tier, parse_template
from orchestrator.prompts.tree import MAX_BYTES, SHIPPED

TEMPLATES = Path(__file__).parent / "templates"
TEMPLATES_FOLDER = "templates"
PARTIALS = "partials"
_BESIDE: dict[Tier, tuple[Tier, ...]] = {
    "user": ("user", "shipped"),
    "project": ("project", "shipped"),
    "shipped": ("user", "shipped"),
}
"""Whose partials a template sees: never a project's in what is not the project's."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The files of one folder by name, unread: ``templates`` and its ``partials``."""

    tier: Tier
    place: str
    templates: Mapping[str, str] = field(default_factory=dict)
    partials: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Library:
    """Templates by name."""

    templates: Mapping[str, Template]
    partials: Mapping[tuple[Tier, str], str]
    faults: Mapping[str, str] = field(default_factory=dict)
    """Why a template cannot be used, by name; the others can."""
    notes: tuple[str, ...] = ()
    """What was left out, for the person."""

    def names(self) -> list[str]:
        """Return what a person may call."""
        return sorted(name for name, each in self.templates.items() if not each.head.internal)

    def get(self, name: str) -> Template:
        """Return a template; PromptError for one that is not there or is faulty."""
        if name in self.faults:
            raise PromptError(self.faults[name])
        if name not in self.templates:
            close = difflib.get_close_matches(name, self.names(), n=1)
            hint = f"did you mean /{close[0]}?" if close else "glovebox prompt templates lists all"
            raise PromptError(f"no template is called {name}", hint=hint)
        return self.templates[name]

    def render(self, name: str, values: Mapping[str, Any]) -> str:
        """Return a template's text for arguments that a program gives. Raises PromptError."""
        template = self.get(name)
        return self.filled(
            template, bind_values(template.head.arguments, values, name=name) | {SAID: ""}
        )

    def filled(self, template: Template, values: Mapping[str, Any]) -> str:
        """Return a template's text for all its variables. Raises PromptError."""

        def partial(name: str) -> str | None:
            found = (self.partials.get((tier, name)) for tier in _BESIDE[template.tier])
            return next((text for text in found if text is not None), None)

        return render(
            template.body,
            values,
            source=template.source,
            plain=template.tier == "project",
            partial=partial,
        ).strip()


def library_of(shelves: Iterable[Shelf], *, notes: Iterable[str] = ()) -> Library:
    """Return the library of these shelves, the ones that stand before others last.

    A project's template cannot take the name of one that the program uses itself.
    """
    templates: dict[str, Template] = {}
    partials: dict[tuple[Tier, str], str] = {}
    faults: dict[str, str] = {}
    told = list(notes)
    for shelf in shelves:
        partials |= {(shelf.tier, name): text for name, text in shelf.partials.items()}
        for name, text in shelf.templates.items():
            source = SHIPPED if shelf.tier == "shipped" else f"{shelf.place}/{name}.md"
            if shelf.tier == "project" and name in templates and templates[name].head.internal:
                told.append(f"{source}: a project cannot replace this; left out")
                continue
            try:
                templates[name] = parse_template(name, text, source=source, tier=shelf.tier)
                faults.pop(name, None)
            except PromptError as err:
                faults[name] = err.message
    return Library(templates, partials, faults, tuple(told))


def shipped_shelf() -> Shelf:
    """Return the package's own."""
    return _shelf(TEMPLATES, "shipped")


def user_shelf(prompts: Path) -> Shelf:
    """Return the one in a user's folder of prompts; PromptError for a file that cannot be read."""
    return _shelf(prompts / TEMPLATES_FOLDER, "user")


def _shelf(folder: Path, tier: Tier) -> Shelf:
    return Shelf(tier, str(folder), _texts(folder), _texts(folder / PARTIALS))


def _texts(folder: Path) -> dict[str, str]:
    found = {}
    try:
        names = sorted(path.name for path in folder.iterdir() if path.suffix == ".md")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as err:
        raise PromptError(f"{folder}: cannot be read: {err.strerror}") from err
    for name in names:
        path = folder / name
        try:
            data = read_named(path, limit=MAX_BYTES)
            text = data.decode("utf-8-sig")
        except OSError as err:
            raise PromptError(f"{path}: cannot be read: {err.strerror}") from err
        except UnicodeDecodeError as err:
            raise PromptError(f"{path}: expected UTF-8 text") from err
        if len(data) > MAX_BYTES:
            raise PromptError(f"{path}: expected at most {MAX_BYTES} bytes, got more")
        found[name.removesuffix(".md")] = text
    return found
