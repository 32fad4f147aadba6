"""Passwords given to well-known programs as arguments, as shell traces and history show them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.redaction.span import Certainty, Span
from orchestrator.redaction.values import is_reference

_ARGUMENT = r"""(?P<quote>["']?)(?P<secret>[^\s"'`;|&<>()]{4,512}+)"""
_USER_PASSWORD = re.compile(
    r"""(?<!\S)(?:-u|--user|--proxy-user|-U)[ =]{0,2}["']?(?P<user>[^\s:"'$/]{1,128}+):"""
    r"""(?P<secret>[^\s"'`;|&<>()]{2,512}+)"""
)
_FORMS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (re.compile(r"\b(?:curl|wget|http|https|xh)\b"), _USER_PASSWORD),
    (re.compile(r"\b(?:sshpass)\b"), re.compile(r"(?<!\S)-p ?" + _ARGUMENT)),
    (
        re.compile(r"\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b"),
        re.compile(r"(?<!\S)-p" + _ARGUMENT),
    ),
    (
        re.compile(r"\b(?:docker|podman|helm|buildah|skopeo|oras) .{0,40}\blogin\b"),
        re.compile(r"(?<!\S)-p " + _ARGUMENT),
    ),
    (re.compile(r"\bredis-cli\b"), re.compile(r"(?<!\S)-a " + _ARGUMENT)),
)
_LINE = re.compile(r"[^\n]+")
_HINT = re.compile(r"(?<!\S)(?:-[uUpa]|--user|--proxy-user)")


def find_command_line_secrets(text: str) -> Iterator[Span]:
    """Yield passwords in the arguments of programs that take them there."""
    end_of_last = 0
    for hint in _HINT.finditer(text):
        if hint.start() < end_of_last:
            continue
        line_start = text.rfind("\n", max(0, hint.start() - 2000), hint.start()) + 1
        line_start = max(line_start, hint.start() - 2000, 0)
        end_of_last = _line_end(text, hint.start())
        yield from _find_in_line(text, line_start, end_of_last)


def _find_in_line(text: str, start: int, end: int) -> Iterator[Span]:
    for program, form in _FORMS:
        named = program.search(text, start, end)
        if named is None:
            continue
        for match in form.finditer(text, named.end(), end):
            groups = match.groupdict()
            ids = groups.get("user", "x").isdigit() and match["secret"].isdigit()
            if not ids and not is_reference(match["secret"]):
                yield Span(*match.span("secret"), "password", Certainty.CONTEXT)


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
