"""Which paths of a build context ``.dockerignore`` leaves out, by Docker's own rules. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ignored:
    """The rules of one file, in order; the last that matches wins."""

    rules: tuple[tuple[re.Pattern[str], bool], ...]
    """Pattern, and True where it leaves out."""

    def leaves_out(self, path: str) -> bool:
        """Say whether a relative path is left out, by its own name or a directory's above it."""
        parts = path.split("/")
        names = ["/".join(parts[: count + 1]) for count in range(len(parts))]
        out = False
        for pattern, excludes in self.rules:
            if out != excludes and any(pattern.fullmatch(name) for name in names):
                out = excludes
        return out

    @property
    def has_exceptions(self) -> bool:
        """True where a directory that is left out may hold something that is not."""
        return any(not excludes for _, excludes in self.rules)


def parse_dockerignore(text: str) -> Ignored:
    """Return the rules of a file's text."""
    rules = []
    for raw in text.removeprefix("\ufeff").splitlines():
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        excludes = not line.startswith("!")
        pattern = _cleaned(line if excludes else line[1:].strip())
        if pattern:
            rules.append((re.compile(_expression(pattern)), excludes))
    return Ignored(tuple(rules))


def _cleaned(pattern: str) -> str:
    parts: list[str] = []
    for part in pattern.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in {"", ".", ".."}:
            parts.append(part)
    return "/".join(parts)


def _expression(pattern: str) -> str:
    """Return Go's path pattern, with ``**`` for any number of directories, as an expression."""
    text, at = "", 0
    while at < len(pattern):
        char = pattern[at]
        if pattern.startswith("**", at):
            at += 2
            slash = pattern[at : at + 1] == "/"
            text += "(?:.*/)?" if slash else ".*"
            at += slash
            continue
        closing = pattern.find("]", at + 2) if char == "[" else -1
        if char == "\\" and at + 1 < len(pattern):
            text += re.escape(pattern[at + 1])
            at += 1
        elif closing > 0:
            inside = pattern[at + 1 : closing]
            negation = "^" if inside.startswith("^") else ""
            escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[len(negation) :])
            text += f"[{negation}{escaped}]"
            at = closing
        else:
            text += {"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char))
        at += 1
    return text
