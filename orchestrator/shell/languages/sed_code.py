"""sed scripts: GNU's ``e`` runs commands, ``w`` and ``W`` write files, ``r`` and ``R`` read them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.shell.languages.effect import Effect
from orchestrator.shell.quoting import DYNAMIC

_ADDRESS = re.compile(
    r"\s*(?:(?:\d+|\$|/(?:\\.|\[[^\]]*\]|[^/\\\n])*/[IM]*|\\(.)(?:\\.|(?!\1)[^\\\n])*\1[IM]*)"
    r"(?:\s*[,~+]\s*(?:[~+]?\d+|\$|/(?:\\.|\[[^\]]*\]|[^/\\\n])*/[IM]*))*)?\s*!*\s*"
)
_FLAGS = re.compile(r"[gpiImMe0-9]*")


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
        at = address.end() if address else at
        if at >= len(code):
            return
        command = code[at]
        start, at = at, at + 1
        if command in "sy":
            at = yield from _substitution(code, start)
        elif command in "ewWrR":
            end = _line_end(code, at)
            yield from _line_command(command, code[at:end].strip(), start, end)
            at = end
        elif command in "aic#:btT":
            at = _line_end(code, at) if command in "aic#" else _label_end(code, at)
        elif command == DYNAMIC:
            yield Effect("opaque", start, at, reason="a sed command that is not static")


def _line_command(command: str, rest: str, start: int, end: int) -> Iterator[Effect]:
    if command == "e":
        yield Effect("shell", start, end, text=rest or DYNAMIC)
    elif command in "wW":
        yield Effect("write", start, end, text=rest)
    else:
        yield Effect("read", start, end, text=rest)


def _substitution(code: str, start: int) -> Iterator[Effect]:
    """Read ``s/old/new/flags``; a generator that returns where the script goes on."""
    if start + 1 >= len(code):
        return len(code)
    mark = code[start + 1]
    at = start + 2
    ends: list[int] = []
    while at < len(code) and len(ends) < 2:
        if code[at] == "\\":
            at += 1
        elif code[at] == mark:
            ends.append(at)
        at += 1
    if len(ends) < 2 or code[start] == "y":
        return at
    flags = _FLAGS.match(code, at)
    end = flags.end() if flags else at
    if "e" in code[at:end]:
        new = code[ends[0] + 1 : ends[1]]
        yield Effect("shell", start, end, text=new)
        yield Effect("remote_code", start, end, reason="runs the lines it has edited")
    if end < len(code) and code[end] == "w":
        stop = _line_end(code, end)
        yield Effect("write", end, stop, text=code[end + 1 : stop].strip())
        return stop
    if end < len(code) and code[end] == DYNAMIC:
        yield Effect("opaque", start, end, reason="flags of a sed command that are not static")
    return end


def _line_end(code: str, at: int) -> int:
    end = code.find("\n", at)
    return len(code) if end < 0 else end


def _label_end(code: str, at: int) -> int:
    found = re.compile(r"[;\n}]").search(code, at)
    return len(code) if found is None else found.start()
