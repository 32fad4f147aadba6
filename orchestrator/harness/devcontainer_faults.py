"""What is wrong with a ``devcontainer.json``, in words: place, expected, got, next step. Pure.

Values are repeated only where they can be no secret: numbers, true, false and null.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from orchestrator.errors import UsageError

INSTEAD = "until it is mended, --image NAME chooses another image"
_SYNTAX = re.compile(r"<string>:(\d+) Unexpected (.*) at column (\d+)", re.DOTALL)
_KINDS: dict[type, str] = {str: "text", list: "list", dict: "object"}
_WORDS = {
    "string_type": "a text in quotes",
    "string_too_short": "a text that is not empty",
    "dict_type": "an object {…}",
    "model_type": "an object {…}",
}
_COMMAND = "a command as a text, a list of words, or an object of such commands by name"
_COMMANDS = ("postCreateCommand",)
_NAMING = {"image": "image", "build.dockerfile": "build.dockerfile", "dockerfile": "dockerFile"}
"""The keys that name an image, by how they read in small letters."""


def syntax_fault(path: str, error: Exception) -> UsageError:
    """Return the error for a file that is no JSON with comments."""
    place, got = path, "an empty file"
    if isinstance(error, RecursionError):
        got = "brackets nested too deep"
    elif match := _SYNTAX.match(str(error)):
        place = f"{path}:{match[1]}:{match[3]}"
        what = match[2].removeprefix('"').removesuffix('"')
        ended = what == "end of input"
        got = "its end; a bracket, quote or comment is open" if ended else f"{what!r}"
    return UsageError(
        f"{place}: expected JSON with comments, got {got}",
        hint=f"look there and just before it for a comma, quote or bracket; {INSTEAD}",
    )


def shape_fault(path: str, data: Any, error: ValidationError) -> UsageError:
    """Return the error for the first value that has another form than its key wants."""
    first = error.errors(include_url=False)[0]
    steps, value = [str(step) for step in first["loc"]], first["input"]
    expected = _WORDS.get(first["type"], first["msg"][:1].lower() + first["msg"][1:])
    if steps and steps[0] in _COMMANDS:
        # The forms that were tried are part of the place pydantic gives.
        steps, value, expected = steps[:1], data[steps[0]], _COMMAND
    elif not steps:
        value = data
    place = ": ".join(filter(None, (path, ".".join(steps))))
    return UsageError(
        f"{place}: expected {expected}, got {_got(value)}",
        hint=f"{_mended(steps, value, expected)}; {INSTEAD}",
    )


def missing_fault(path: str, data: Mapping[str, Any]) -> UsageError:
    """Return the error for a file that names no image; a misspelt key is named."""
    if "dockerComposeFile" in data:
        return UsageError(
            f"{path}: expected 'image' or 'build.dockerfile', got 'dockerComposeFile'; Compose "
            "files are not supported",
            hint="start with --image NAME; what runs beside it can be in 'services' of a policy",
        )
    keys = [*data, *(f"build.{key}" for key in data.get("build") or ())]
    meant = [line for key in keys if (line := _meant(key))]
    return UsageError(
        f"{path}: expected 'image' or 'build.dockerfile', got neither of them",
        hint=meant[0] if meant else "add one of them, or start with --image NAME",
    )


def image_fault(path: str, name: str) -> UsageError:
    """Return the error for an image's name that cannot be one."""
    return UsageError(
        f"{path}: image: expected an image's name, got {name[:80]!r}",
        hint=f'write it as in "image": "debian:12", without variables; {INSTEAD}',
    )


def _meant(key: str) -> str:
    """Return a question where a key is nearly one of those that name an image."""
    near = difflib.get_close_matches(key.lower(), _NAMING, n=1, cutoff=0.8)
    return f"did you mean {_NAMING[near[0]]!r} where it says {key!r}?" if near else ""


def _got(value: Any) -> str:
    if isinstance(value, bool | int | float) or value is None:
        return json.dumps(value)
    kind = next((name for form, name in _KINDS.items() if isinstance(value, form)), "value")
    return f"an empty {kind}" if not value else f"{'an' if kind == 'object' else 'a'} {kind}"


def _mended(steps: list[str], value: Any, expected: str) -> str:
    """Return how to write it, as far as that can be told."""
    if not steps:
        return 'the whole file is one object, as in {"image": "debian:12"}'
    if steps[0] in _COMMANDS:
        return "write each of its words in quotes"
    if steps == ["build"] and isinstance(value, str):
        return 'write "build": {"dockerfile": …}'
    if expected == _WORDS["string_type"] and isinstance(value, bool | int | float):
        return f"write it in quotes: {json.dumps(json.dumps(value))}"
    if expected == _WORDS["dict_type"] and isinstance(value, list):
        return 'write it as {"NAME": "value"}'
    return "correct it"
