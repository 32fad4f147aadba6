"""Glob patterns over paths, in time linear in practice and polynomial at worst; no regex.

``*`` and ``?`` stay inside a path component, ``**`` spans components, ``[a-z]`` and ``[!a-z]`` are
sets, ``{a,b}`` alternatives, a backslash takes the next character as it is. A pattern without a
slash matches at any depth; one with a slash starts at the searched directory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from refusal import Refusal

MAX_ALTERNATIVES = 256
"""Patterns that braces may expand to."""

MAX_LENGTH = 1024
"""Characters of a pattern."""

_ANY = "*"


class Glob(NamedTuple):
    """A compiled pattern."""

    alternatives: tuple[tuple[str, ...], ...]
    """Each a sequence of component patterns; ``**`` stands for any number of components."""

    @classmethod
    def parse(cls, pattern: str) -> Glob:
        """Compile a pattern; refuses ``..``, an absolute or empty one, and too many braces."""
        if not pattern or len(pattern) > MAX_LENGTH or "\0" in pattern:
            raise Refusal("invalid", f"pattern: expected 1 to {MAX_LENGTH} characters without NUL")
        found = []
        for alternative in _expanded(pattern):
            parts = [part for part in alternative.split("/") if part not in {"", "."}]
            if ".." in parts or alternative.startswith("/"):
                raise Refusal(
                    "outside", f"pattern {pattern}: stays below path; no '..' and no leading '/'"
                )
            deep = "/" not in alternative.removeprefix("./").rstrip("/")
            found.append(tuple(["**", *parts] if deep else parts))
        return cls(tuple(found))

    def matches(self, parts: Sequence[str]) -> bool:
        """Say whether a path, split into components, matches."""
        return any(_matches(alternative, parts) for alternative in self.alternatives)


def _matches(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Match components: the set of pattern positions reached is carried over the path."""
    reached = _through_stars(pattern, {0})
    for part in parts:
        ahead = set()
        for index in reached:
            if index == len(pattern):
                continue
            if pattern[index] == "**":
                ahead.add(index)
            elif component_matches(pattern[index], part):
                ahead.add(index + 1)
        reached = _through_stars(pattern, ahead)
        if not reached:
            return False
    return len(pattern) in reached


def _through_stars(pattern: Sequence[str], reached: set[int]) -> set[int]:
    found = set(reached)
    for index in sorted(reached):
        position = index
        while position < len(pattern) and pattern[position] == "**":
            position += 1
            found.add(position)
    return found


def component_matches(pattern: str, name: str) -> bool:
    """Match one component by the two-pointer method: a star only ever falls back to the last one."""
    tokens = list(_tokens(pattern))
    index = position = 0
    star, mark = -1, 0
    while position < len(name):
        if index < len(tokens) and tokens[index] == _ANY:
            star, mark = index, position
            index += 1
        elif index < len(tokens) and _token_matches(tokens[index], name[position]):
            index += 1
            position += 1
        elif star >= 0:
            mark += 1
            index, position = star + 1, mark
        else:
            return False
    return all(token == _ANY for token in tokens[index:])


def _tokens(pattern: str) -> Iterator[str]:
    r"""Yield ``*``, ``?``, a set with its brackets, or ``\`` and a literal character."""
    index = 0
    while index < len(pattern):
        character = pattern[index]
        if character in "*?":
            yield character
        elif character == "\\" and index + 1 < len(pattern):
            index += 1
            yield "\\" + pattern[index]
        elif character == "[" and (end := pattern.find("]", index + 2)) > 0:
            yield pattern[index : end + 1]
            index = end
        else:
            yield "\\" + character
        index += 1


def _token_matches(token: str, character: str) -> bool:
    if token == "?":
        return True
    if token[0] == "\\":
        return token[1] == character
    body = token[1:-1]
    negated = body[0] in "!^"
    return _in_set(body[1:] if negated else body, character) != negated


def _in_set(body: str, character: str) -> bool:
    index = 0
    while index < len(body):
        if index + 2 < len(body) and body[index + 1] == "-":
            if body[index] <= character <= body[index + 2]:
                return True
            index += 3
        elif body[index] == character:
            return True
        else:
            index += 1
    return False


def _expanded(pattern: str) -> list[str]:
    """Expand braces, innermost last; an unpaired brace is a character like others."""
    done: list[str] = []
    todo = [pattern]
    while todo:
        current = todo.pop()
        braces = _first_braces(current)
        if braces is None:
            done.append(current)
        else:
            start, choices, end = braces
            todo += [current[:start] + choice + current[end:] for choice in choices]
        if len(done) + len(todo) > MAX_ALTERNATIVES:
            raise Refusal(
                "invalid", f"pattern {pattern}: braces give over {MAX_ALTERNATIVES} alternatives"
            )
    return done


def _first_braces(pattern: str) -> tuple[int, list[str], int] | None:
    start = pattern.find("{")
    while start > 0 and pattern[start - 1] == "\\":
        start = pattern.find("{", start + 1)
    if start < 0:
        return None
    depth, choices, mark = 0, [], start + 1
    for index in range(start, len(pattern)):
        character = pattern[index]
        if character == "{":
            depth += 1
        elif character == "," and depth == 1:
            choices.append(pattern[mark:index])
            mark = index + 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                choices.append(pattern[mark:index])
                return start, choices, index + 1
    return None
