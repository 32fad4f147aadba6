"""Program knowledge from the package's tables, loaded once, on first use."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any

import yaml
from pydantic import ValidationError

from orchestrator.errors import GloveboxError
from orchestrator.shell.knowledge import Spec

_VERSION = re.compile(r"-?\d+(?:\.\d+)*$")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def load_programs() -> dict[str, Spec]:
    """Return every table entry by program name; a broken table is an error, never skipped."""
    programs: dict[str, Spec] = {}
    for file in sorted(_tables("programs"), key=lambda item: item.name):
        for name, entry in read_table(file).items():
            spec = _spec(entry, place=f"{file.name}: {name}")
            for alias in (name, *spec.also):
                if alias in programs:
                    raise GloveboxError(f"{file.name}: {alias} is described twice")
                programs[alias] = spec
    return programs


def find_program(name: str) -> Spec | None:
    """Return what is known of a program; ``python3.11`` and ``gcc-12`` count as the plain name."""
    programs = load_programs()
    found = programs.get(name)
    if found is None:
        plain = _VERSION.sub("", name)
        found = programs.get(plain) if plain != name else None
    if found is None and "*" not in name:
        found = next((spec for form, spec in _forms() if fnmatchcase(name, form)), None)
    return found


@cache
def _forms() -> list[tuple[str, Spec]]:
    """Return the entries whose name is a pattern: ``ld-*.so.*``."""
    return [(name, spec) for name, spec in load_programs().items() if "*" in name]


def _tables(folder: str) -> list[Any]:
    root = resources.files("orchestrator.shell").joinpath(folder)
    return [file for file in root.iterdir() if file.name.endswith(".yaml")]


def read_table(file: Any) -> dict[str, Any]:
    """Parse one YAML table; its top level must be a mapping."""
    data = yaml.load(file.read_text("utf-8"), Loader=_LOADER)  # noqa: S506 - a safe loader
    if not isinstance(data, dict):
        raise GloveboxError(f"{file.name}: expected a mapping, got {type(data).__name__}")
    return data


def _spec(entry: Any, *, place: str) -> Spec:
    try:
        return Spec.model_validate(entry or {})
    except ValidationError as err:
        raise GloveboxError(f"{place}: {err}") from err
