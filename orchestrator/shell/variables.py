"""Assignments that change what later programs run, load or trust."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict

from orchestrator.shell.analysis import Word
from orchestrator.shell.programs import read_table
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.scope import OLD_PATH
from orchestrator.shell.setting import Site

_BARE_NAME = re.compile(r"[\w.+-]*")
_SYSTEM_DIRECTORY = re.compile(r"/(usr/(local/)?)?s?bin|/usr/(lib|local)/\S+|/opt/\S+")
_OWN_PROGRAMS = re.compile(r"/(\.?bin|scripts|tools)$")
_PROJECT_DIRECTORY = re.compile(r"(.*/)?(node_modules/\.bin|\.?venv/bin|env/bin|vendor/bin)")


class VariableTable(BaseModel):
    """``tables/variables.yaml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    harmless: str
    shells: str
    harmful: dict[str, str]
    runs: tuple[str, ...]
    interpreters: tuple[str, ...]
    loads: tuple[str, ...]
    configures: tuple[str, ...]
    search: tuple[str, ...]
    programs: tuple[str, ...]
    tools: tuple[str, ...]


@cache
def _table() -> VariableTable:
    file = resources.files("orchestrator.shell").joinpath("tables/variables.yaml")
    return VariableTable.model_validate(read_table(file))


@cache
def _names() -> re.Pattern[str]:
    """Return one pattern with a named group for each group of names."""
    table = _table()
    groups = {
        "runs": table.runs,
        "loads": table.loads,
        "configures": table.configures,
        "search": table.search,
        "programs": table.programs,
        "tools": table.tools,
    }
    return re.compile("|".join(f"(?P<{key}>{'|'.join(value)})" for key, value in groups.items()))


@cache
def _harmless() -> re.Pattern[str]:
    return re.compile(_table().harmless.strip())


@cache
def _shells() -> re.Pattern[str]:
    return re.compile(_table().shells.strip())


@cache
def _interpreters() -> re.Pattern[str]:
    return re.compile("|".join(_table().interpreters))


@cache
def _harmful() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{name})" for name in _table().harmful))


def steers_programs(name: str) -> bool:
    """Say whether a variable is one that changes what programs run, load or trust."""
    return bool(_harmful().fullmatch(name) or _names().fullmatch(name))


def is_harmless_program(text: str) -> bool:
    """Say whether a pager, editor, compressor or the like is a plain well-known one."""
    return _harmless().search(text) is not None


def is_plain_shell(text: str) -> bool:
    """Say whether a program is a shell as it stands; a pager that is one runs what it is shown."""
    return _shells().search(text) is not None


def judge_variable(name: str, value: Word, site: Site) -> bool:
    """Report an assignment that changes what programs run; say whether the value is shell text."""
    shape, span, reading = value.shape, value.span, site.reading
    if _harmful().fullmatch(name):
        _judge_value(name, value, site)
        return False
    match = _names().fullmatch(name)
    if match is None:
        return False
    kind = match.lastgroup
    if kind == "tools":
        return not _BARE_NAME.fullmatch(shape)
    if kind == "runs":
        if is_harmless_program(shape):
            return False
        if _interpreters().fullmatch(name) and is_plain_shell(shape):
            return False
        reading.report("remote_code", f"{name} names a program that other programs run", span)
        return True
    if kind == "loads" and shape:
        reading.report("remote_code", f"{name} loads foreign code into programs", span)
    elif kind == "configures" and shape:
        reading.report("remote_code", f"{name} replaces the settings programs trust", span)
    elif kind == "search":
        _judge_search(name, value, site)
    elif kind == "programs":
        _judge_programs(value, site)
    return False


def _judge_value(name: str, value: Word, site: Site) -> None:
    for names, harm in _table().harmful.items():
        if re.fullmatch(names, name) and re.search(harm, value.shape):
            site.reading.report(
                "remote_code", f"{name} makes programs run or load other code", value.span
            )


def _judge_search(name: str, value: Word, site: Site) -> None:
    scope = site.scope
    for entry in value.shape.split(":"):
        path = scope.absolute(entry) if entry else scope.cwd
        if entry == DYNAMIC or (path is not None and (scope.inside(path) or _is_system(path))):
            continue
        site.reading.report(
            "remote_code", f"{name} loads code from outside the workspace", value.span
        )


def _judge_programs(value: Word, site: Site) -> None:
    """Report directories that come before the old PATH and are neither system nor project tools."""
    for entry in value.shape.split(":"):
        if entry == OLD_PATH:
            return
        path = site.scope.absolute(entry) or entry
        known = _is_system(path) or _PROJECT_DIRECTORY.fullmatch(path)
        if not known and not _is_projects_own(path, site):
            site.reading.report(
                "remote_code", f"PATH puts {entry} before the system's programs", value.span
            )


def _is_projects_own(path: str, site: Site) -> bool:
    """Say whether it is a ``bin`` of the workspace that this very command puts nothing into."""
    scope = site.scope
    if DYNAMIC in path or not scope.inside(path) or not _OWN_PROGRAMS.search(path):
        return False
    changed = (*scope.files, *scope.stand_ins, *(place for place, _ in site.reading.writes))
    return not scope.fetched_into(path) and not any(
        file == path or file.startswith(path + "/") for file in changed
    )


def _is_system(path: str) -> bool:
    return _SYSTEM_DIRECTORY.fullmatch(path) is not None
