"""sed scripts: GNU's ``e`` runs commands, ``w`` and ``W`` write files, ``r`` and ``R`` read them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.shell.languages.effect import Effect
from orchestrator.shell.quoting import DYNAMIC

_ONE = r"(?:\d+|\$|/(?:\\.|\[[^\]]*\]|[^/\\\n])*/[IM]*|\\(.)(?:\\.|(?!\1)[^\\\n])*\1[IM]*)"
_OTHER = r"(?:[~+]?\d+|\$|/(?:\\.|\[[^\]]*\]|[^/\\\n])*/[IM]*)"
_ADDRESS = re.compile(rf"\s*(?:{_ONE}(?:\s*[,~+]\s*{_OTHER})*)?\s*!*\s*")
_FLAGS = re.compile(r"[gpiImMe0-9]*")
_BRACKET = re.compile(r"\[\^?\]?(?:\[:\w+:\]|[^\]\n])*+\]")
_TEXT_END = re.compile(r"(?<!\\)(?:\\\\)*\n")
_LABEL_END = re.compile(r"[;\n}]")
_TEXT_COMMANDS = frozenset("aic#")
_FILE_COMMANDS = frozenset("eWwrR")
_LABEL_COMMANDS = frozenset(":btTqQlL")


@dataclass(frozen=True, slots=True)
class _Substitution:
    """``s/old/new/flags`` as it was read."""

    new: str
    flags: str
    end: int
    """Where the script goes on, before a ``w`` flag."""


def read_sed(code: str) -> list[Effect]:
    """Return the effects of a sed script."""
    return list(_commands(code))


def _commands(code: str) -> Iterator[Effect]:
    at = 0
    while at < len(code):
        if code[at] in " \t\n;{}":
            at += 1
            continue
        address = _ADDRESS.match(code, at)
        start = address.end() if address is not None else at
        if start >= len(code):
            return
        command = code[start]
        at = start + 1
        if command in "sy":
            found = _read_substitution(code, start)
            yield from _substitution_effects(code, start, found)
            at = found.end
            if code[at : at + 1] == "w":
                at = _line_end(code, at)
            elif code[at : at + 1] == DYNAMIC:
                at += 1
        elif command in _FILE_COMMANDS:
            at = _line_end(code, at)
            yield _line_effect(command, code[start + 1 : at].strip(), (start, at))
        elif command in _TEXT_COMMANDS:
            found_end = _TEXT_END.search(code, at)
            at = len(code) if found_end is None else found_end.end()
        elif command in _LABEL_COMMANDS:
            at = _label_end(code, at)
        elif command == DYNAMIC:
            yield Effect("opaque", start, at, reason="a sed command that is not static")


def _line_effect(command: str, rest: str, span: tuple[int, int]) -> Effect:
    if command == "e":
        return Effect("shell", *span, text=rest or DYNAMIC)
    return Effect("write" if command in "wW" else "read", *span, text=rest)


def _read_substitution(code: str, start: int) -> _Substitution:
    mark = code[start + 1 : start + 2]
    old = _part_end(code, start + 2, mark, brackets=True)
    new = _part_end(code, old + 1, mark, brackets=False)
    if new >= len(code) or code[start] == "y":
        return _Substitution("", "", min(new + 1, len(code)))
    match = _FLAGS.match(code, new + 1)
    end = match.end() if match is not None else new + 1
    return _Substitution(code[old + 1 : new], code[new + 1 : end], end)


def _part_end(code: str, at: int, mark: str, *, brackets: bool) -> int:
    """Return where a part of ``s`` ends; in a bracket expression the mark is a plain character."""
    while at < len(code) and code[at] != mark:
        if code[at] == "\\":
            at += 1
        elif brackets and code[at] == "[" and (found := _BRACKET.match(code, at)) is not None:
            at = found.end() - 1
        at += 1
    return at


def _substitution_effects(code: str, start: int, found: _Substitution) -> Iterator[Effect]:
    end = found.end
    if "e" in found.flags:
        yield Effect("shell", start, end, text=found.new)
        yield Effect("remote_code", start, end, reason="runs the lines it has edited")
    follows = code[end : end + 1]
    if follows == "w":
        stop = _line_end(code, end)
        yield Effect("write", end, stop, text=code[end + 1 : stop].strip())
    elif follows == DYNAMIC:
        yield Effect("opaque", start, end, reason="flags of a sed command that are not static")


def _line_end(code: str, at: int) -> int:
    end = code.find("\n", at)
    return len(code) if end < 0 else end


def _label_end(code: str, at: int) -> int:
    found = _LABEL_END.search(code, at)
    return len(code) if found is None else found.start()
