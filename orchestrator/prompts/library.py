"""All templates at hand: shipped ones, a trusted project's, the user's; the later stands before the earlier."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from orchestrator.errors import PromptError
from orchestrator.prompts.arguments import SAID, bind_values
from orchestrator.prompts.render import check, render
from orchestrator.prompts.template import Template, Tier, parse_template
from orchestrator.prompts.tree import COMMANDS, SHIPPED, read_text

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
    faults: Mapping[str, str] = field(default_factory=dict)
    """Why a template could not be read, by name."""
    notes: tuple[str, ...] = ()
    """What else could not be read."""


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
        return render(
            _in_place(template),
            values,
            source=template.source,
            plain=template.tier == "project",
            partial=self._partials_of(template),
        ).strip()

    def checked(self) -> Library:
        """Return the library with the faults of its bodies too, which else are told at a call."""
        templates, faults = dict(self.templates), dict(self.faults)
        for name, template in self.templates.items():
            try:
                self.check(template)
            except PromptError as err:
                faults[name] = err.message
                del templates[name]
        return replace(self, templates=templates, faults=faults)

    def check(self, template: Template) -> None:
        """Raise PromptError for a template whose body no arguments could fill; shipped ones hold."""
        if template.tier != "shipped":
            check(
                _in_place(template),
                source=template.source,
                plain=template.tier == "project",
                partial=self._partials_of(template),
            )

    def _partials_of(self, template: Template) -> Callable[[str], str | None]:
        def partial(name: str) -> str | None:
            found = (self.partials.get((tier, name)) for tier in _BESIDE[template.tier])
            return next((text for text in found if text is not None), None)

        return partial


def _in_place(template: Template) -> str:
    """Return the body on the lines that it has in its file, so that errors name those."""
    return "\n" * template.above + template.body


def library_of(shelves: Iterable[Shelf], *, notes: Iterable[str] = ()) -> Library:
    """Return the library of these shelves, the ones that stand before others last.

    A faulty template costs itself: its name calls nothing. One that the program uses itself is
    never lost so: then the text stands that it was to replace, and that is told. A project's cannot
    take the name of such a one.
    """
    made = Library({}, {}, notes=tuple(notes))
    for shelf in shelves:
        partials = {(shelf.tier, name): text for name, text in shelf.partials.items()}
        made = replace(
            made, partials={**made.partials, **partials}, notes=(*made.notes, *shelf.notes)
        )
        for name in sorted({*shelf.templates, *shelf.faults}):
            made = _with_one(made, shelf, name)
    return made


def _with_one(library: Library, shelf: Shelf, name: str) -> Library:
    """Return the library with one of a shelf's templates, or with its fault."""
    source = SHIPPED if shelf.tier == "shipped" else f"{shelf.place}/{name}.md"
    if name in COMMANDS:
        return replace(library, notes=(*library.notes, f"{source}: /{name} is a command; left out"))
    before = library.templates.get(name)
    is_own = before is not None and before.head.internal
    if is_own and shelf.tier == "project":
        told = f"{source}: a project cannot replace this; left out"
        return replace(library, notes=(*library.notes, told))
    fault = shelf.faults.get(name)
    others = {key: text for key, text in library.faults.items() if key != name}
    if fault is None:
        try:
            template = parse_template(name, shelf.templates[name], source=source, tier=shelf.tier)
            if is_own:
                library.check(template)
        except PromptError as err:
            fault = err.message
        else:
            return replace(library, templates={**library.templates, name: template}, faults=others)
    if is_own:
        told = f"{fault}; the shipped text stays in its place"
        return replace(library, notes=(*library.notes, told))
    rest = {key: each for key, each in library.templates.items() if key != name}
    return replace(library, templates=rest, faults={**others, name: fault})


def shipped_shelf() -> Shelf:
    """Return the package's own."""
    return _shelf(TEMPLATES, "shipped")


def user_shelf(prompts: Path) -> Shelf:
    """Return the one in a user's folder of prompts; what cannot be read is its fault or a note."""
    return _shelf(prompts / TEMPLATES_FOLDER, "user")


def _shelf(folder: Path, tier: Tier) -> Shelf:
    try:
        templates, faults = _texts(folder)
        partials, torn = _texts(folder / PARTIALS)
    except OSError as err:
        told = f"{err.filename or folder}: templates left out: cannot be read: {err.strerror}"
        return Shelf(tier, str(folder), notes=(told,))
    return Shelf(tier, str(folder), templates, partials, faults, tuple(torn.values()))


def _texts(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return a folder's texts by name, and why others cannot be read; OSError for the folder."""
    found, faults = {}, {}
    try:
        names = sorted(path.name for path in folder.iterdir() if path.suffix == ".md")
    except (FileNotFoundError, NotADirectoryError):
        return {}, {}
    for name in names:
        try:
            found[name.removesuffix(".md")] = read_text(folder / name)
        except PromptError as err:
            faults[name.removesuffix(".md")] = err.message
    return found, faults
