"""What a wrapped agent is about to do, by its hook's word, as a Request that policy knows. Pure.

Clients name their tools and arguments differently; what is not known here is judged by its name.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from orchestrator.schema.request import (
    EditRequest,
    ExecRequest,
    FindRequest,
    GrepRequest,
    ListRequest,
    ReadRequest,
    Replacement,
    Request,
    WriteRequest,
)

TIME_S = 86_400.0
"""Stands for the time that a command is given: the client sees to that."""
MOST_CHARACTERS = 1024 * 1024

_COMMANDS = frozenset(
    [
        "bash",
        "shell",
        "exec",
        "exec_command",
        "local_shell",
        "run_shell_command",
        "execute_command",
        "terminal",
    ]
)
_READS = frozenset(["read", "read_file", "view", "view_image", "notebookread"])
_WRITES = frozenset(["write", "write_file", "create", "notebookedit"])
_EDITS = frozenset(["edit", "edit_file", "replace", "multiedit", "str_replace"])
_SEARCHES = frozenset(["grep", "search_file_content"])
_FINDS = frozenset(["glob", "find"])
_LISTS = frozenset(["ls", "list", "list_directory"])
_PATHS = ("file_path", "path", "filePath", "absolute_path", "notebook_path", "dir_path")


class NotAskedError(Exception):
    """Raised for a question that is none; the text is for the client."""


class _Asked(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    tool_name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    tool_input: dict[str, Any] = Field(default_factory=dict)
    cwd: Annotated[str, StringConstraints(max_length=4096)] = ""


@dataclass(frozen=True, slots=True)
class ClientCall:
    """One tool call of a client; everything in it is untrusted."""

    client: str
    tool: str
    """By the client's own name."""
    known_as: str
    """The name that policies know it by."""
    request: Request | None
    """None for a tool that is judged by its name alone."""
    arguments: Mapping[str, Any]


def parse_call(body: Mapping[str, Any], *, workdir: str) -> ClientCall:
    """Return the call that a hook asks about; NotAskedError where it says none."""
    event = body.get("event")
    try:
        asked = _Asked.model_validate(event)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the event"
        raise NotAskedError(f"the hook's event cannot be read: {where}: {first['msg']}") from error
    cwd = asked.cwd or str(body.get("cwd") or "")
    cwd = cwd if cwd.startswith("/") and "\0" not in cwd else workdir
    name = asked.tool_name.rpartition(".")[2].lower()
    known_as, request = _request(name, asked.tool_input, cwd)
    client = str(body.get("client") or "?")[:50]
    return ClientCall(client, asked.tool_name, known_as, request, asked.tool_input)


def _request(name: str, given: Mapping[str, Any], cwd: str) -> tuple[str, Request | None]:
    if name in _COMMANDS:
        command = _command(given)
        own = given.get("workdir") or given.get("directory")
        place = _absolute(own, cwd) if isinstance(own, str) and own else cwd
        return "bash", ExecRequest(command, place, TIME_S)
    if name in _READS:
        return "read", ReadRequest(_path(given, cwd))
    if name in _WRITES:
        content = _text(given, "content", "new_source", "file_text")
        return "write", WriteRequest(_path(given, cwd), content)
    if name in _EDITS:
        edits = _edits(given)
        return "edit", EditRequest(_path(given, cwd), edits, bool(given.get("replace_all")))
    if name in _SEARCHES:
        return "grep", GrepRequest(_text(given, "pattern"), _path(given, cwd, default=cwd))
    if name in _FINDS:
        return "find", FindRequest(_text(given, "pattern"), _path(given, cwd, default=cwd))
    if name in _LISTS:
        return "ls", ListRequest(_path(given, cwd, default=cwd))
    return name, None


def _command(given: Mapping[str, Any]) -> str:
    found = given.get("command", given.get("cmd"))
    if isinstance(found, list) and found and all(isinstance(word, str) for word in found):
        return _bounded(shlex.join(found), "command")
    if isinstance(found, str) and found.strip():
        return _bounded(found, "command")
    raise NotAskedError("the call names no command")


def _path(given: Mapping[str, Any], cwd: str, *, default: str | None = None) -> str:
    for name in _PATHS:
        found = given.get(name)
        if isinstance(found, str) and found:
            return _absolute(_bounded(found, name), cwd)
    if default is None:
        raise NotAskedError("the call names no path")
    return default


def _absolute(path: str, cwd: str) -> str:
    if "\0" in path:
        raise NotAskedError("a path holds NUL")
    return posixpath.join(cwd, path)


def _edits(given: Mapping[str, Any]) -> tuple[Replacement, ...]:
    several = given.get("edits")
    found = several if isinstance(several, list) else [given]
    edits = []
    for one in found:
        if not isinstance(one, Mapping):
            raise NotAskedError("an edit is no object")
        old = _text(one, "old_string", "oldText", "oldString", "old_str")
        edits.append(Replacement(old, _text(one, "new_string", "newText", "newString", "new_str")))
    return tuple(edits)


def _text(given: Mapping[str, Any], *names: str) -> str:
    for name in names:
        found = given.get(name)
        if isinstance(found, str):
            return _bounded(found, name)
    raise NotAskedError(f"the call has no {names[0]}")


def _bounded(text: str, name: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise NotAskedError(f"{name}: more than {MOST_CHARACTERS} characters")
    return text
