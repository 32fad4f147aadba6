"""What a Dockerfile would fetch, read before anything of it runs. Pure.

A build has no network, but the engine itself does: it would pull the images that ``FROM`` and
``COPY --from`` name and download what ``ADD`` names. So these are read here, by the rules of the
engine's own parser, and what cannot be read for certain is refused.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orchestrator.errors import UsageError

_CONTINUED = re.compile(r"\\[ \t]*$")
_ODD_END = re.compile(r"\\\\[ \t]*$")
"""Engines differ on whether a line that ends in two backslashes goes on."""
_ODD_CHARACTER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")
"""Space or the end of a line to some readers, and neither to others."""
_DIRECTIVE = re.compile(r"#\s*(syntax|escape)\s*=\s*(\S+)", re.IGNORECASE)
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))")
_REMOTE = re.compile(r"\$|://|^git@|^github\.com/|^gitlab\.com/", re.IGNORECASE)
_PATTERN = re.compile(r"[$*?\[]")
_QUOTED = re.compile(r"[\"'\\]")
"""What the engine takes out of a word before it looks at it."""
_HEREDOC = re.compile(r"(?<!<)<<-?[\"']?[A-Za-z_]")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of a Dockerfile, its continued lines joined."""

    line: int
    """Of its first line, from 1."""
    word: str
    """Upper case: ``FROM``, ``RUN``."""
    rest: str


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """What a build needs from elsewhere."""

    images: tuple[str, ...]
    """Every image it starts from or copies out of, stages and ``scratch`` aside."""
    sources: tuple[str, ...] | None
    """The paths of the context that it copies; None where only the engine can tell."""


def plan_build(text: str, *, args: Mapping[str, str], name: str) -> BuildPlan:
    """Return what a Dockerfile needs; UsageError, with the line, where that cannot be told."""
    values: dict[str, str] = {}
    stages: list[str] = []
    images: dict[str, None] = {}
    sources: dict[str, None] = {}
    for item in parse_dockerfile(text, name=name):
        if item.word == "ARG" and not stages:
            values |= {key: args.get(key, value) for key, value in _declared(item, name=name)}
        elif item.word == "FROM":
            flags = _flags(item, name=name)
            words = [word for word in item.rest.split() if word not in flags]
            image = _resolved(item, words[0] if words else "", values, name=name)
            if image.lower() not in {*stages, "scratch"}:
                images[image] = None
            named = len(words) == 3 and words[1].lower() == "as"
            stages.append(words[2].lower() if named else "")
        elif item.word in {"COPY", "ADD"}:
            origins, paths = _copies(item, name=name)
            elsewhere = (image for image in origins if image.lower() not in stages)
            images |= dict.fromkeys(image for image in elsewhere if not image.isdigit())
            sources |= dict.fromkeys(posixpath.normpath(path.lstrip("/") or ".") for path in paths)
    whole = any(path == "." or _PATTERN.search(path) for path in sources)
    return BuildPlan(tuple(images), None if whole else tuple(sources))


def _declared(item: Instruction, *, name: str) -> list[tuple[str, str]]:
    try:
        words = shlex.split(item.rest)
    except ValueError as error:
        raise UsageError(f"{name}:{item.line}: ARG {item.rest}: {error}") from error
    return [(word.partition("=")[0], word.partition("=")[2]) for word in words]


def check_triggers(triggers: Iterable[str], *, image: str) -> None:
    """Raise UsageError where an image's ONBUILD instructions would fetch something."""
    for trigger in triggers:
        for item in parse_dockerfile(trigger, name=f"ONBUILD of {image}"):
            if item.word in {"COPY", "ADD"}:
                fetched, _ = _copies(item, name=f"ONBUILD of {image}")
                if fetched:
                    raise UsageError(f"ONBUILD of {image}: it copies from image {fetched[0]}")


def parse_dockerfile(text: str, *, name: str) -> list[Instruction]:
    """Return the instructions; ONBUILD counts as what it triggers."""
    found: list[Instruction] = []
    started, joined = 0, ""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        raw = line.removesuffix("\r")
        if _ODD_CHARACTER.search(raw) or _ODD_END.search(raw):
            raise UsageError(
                f"{name}:{number}: a control character, or two backslashes at the end: "
                "cannot tell where this line ends",
                hint="write it with plain spaces, and one backslash where the line goes on",
            )
        stripped = raw.strip()
        directive = _DIRECTIVE.match(stripped)
        if directive and directive[1].lower() == "escape" and directive[2] != "\\" and not found:
            raise UsageError(f"{name}:{number}: only \\ is understood as the escape character")
        if stripped.startswith("#") or (not stripped and joined):
            continue
        started = started or number
        joined += _CONTINUED.sub("", raw.lstrip() if not joined else raw)
        if _CONTINUED.search(raw):
            continue
        found += _instruction(started, joined, name=name)
        started, joined = 0, ""
    return found + _instruction(started, joined, name=name)


def _instruction(line: int, text: str, *, name: str) -> list[Instruction]:
    word, _, rest = text.strip().replace("\t", " ").partition(" ")
    if not word:
        return []
    if word.upper() == "ONBUILD":
        return _instruction(line, rest, name=name)
    if _HEREDOC.search(rest) and word.upper() in {"RUN", "COPY", "ADD"}:
        raise UsageError(
            f"{name}:{line}: here-documents need BuildKit, which these builds do not use",
            hint="write the lines with && and \\",
        )
    return [Instruction(line, word.upper(), rest.strip())]


def _resolved(item: Instruction, text: str, values: Mapping[str, str], *, name: str) -> str:
    def value(match: re.Match[str]) -> str:
        given = values.get(match[1] or match[3], "") or match[2]
        if not given:
            raise UsageError(
                f"{name}:{item.line}: FROM {text}: ${match[1] or match[3]} has no value",
                hint="give the ARG a default, or build.args in devcontainer.json",
            )
        return given

    image = _VARIABLE.sub(value, text.strip("\"'"))
    if not image or "$" in image:
        raise UsageError(f"{name}:{item.line}: FROM {text}: cannot tell which image this is")
    return image


def _copies(item: Instruction, *, name: str) -> tuple[list[str], list[str]]:
    """Return the images and the context's paths an instruction copies; refuses downloads."""
    flags = _flags(item, name=name)
    origin = [flag.partition("=")[2] for flag in flags if flag.lower().startswith("--from=")]
    rest = item.rest
    for flag in flags:
        rest = rest.replace(flag, "", 1)
    paths = _paths(rest)[:-1]
    if item.word == "ADD":
        for path in paths:
            if _QUOTED.search(path):
                raise UsageError(
                    f"{name}:{item.line}: ADD {path}: cannot tell what this is",
                    hint="write the path without quotes and backslashes, or use COPY",
                )
            if _REMOTE.search(path):
                raise UsageError(
                    f"{name}:{item.line}: ADD {path}: a build downloads nothing",
                    hint="add the file to the project and COPY it",
                )
    if any("$" in image for image in origin):
        raise UsageError(f"{name}:{item.line}: cannot tell which image --from={origin[0]} is")
    return origin, [] if origin else paths


def _flags(item: Instruction, *, name: str) -> list[str]:
    flags = [word for word in item.rest.split() if word.startswith("--")]
    for flag in flags:
        if _QUOTED.search(flag):
            raise UsageError(
                f"{name}:{item.line}: {flag}: cannot tell which flag this is",
                hint="write flags without quotes and backslashes",
            )
    return flags


def _no_constant(text: str) -> None:
    raise ValueError(f"the engine does not take {text} for JSON")


def _paths(text: str) -> list[str]:
    text = text.strip()
    if text.startswith("["):
        try:
            listed = json.loads(text, parse_constant=_no_constant)
        except ValueError:
            listed = None
        if isinstance(listed, list):
            return [str(path) for path in listed]
    return text.split()
