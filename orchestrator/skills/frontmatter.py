"""The head of a SKILL.md: YAML between two lines of dashes, each value with its line.

Bounded before anything grows: no aliases, no tags, no key twice. ``yes`` and ``1.10`` stay text.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

from orchestrator.errors import SkillError

MAX_BYTES = 256 * 1024
"""Of a SKILL.md; the format's own advice is under 500 lines."""
MAX_EVENTS = 5_000
FENCE = "---"
HINT = "a SKILL.md begins with ---, its fields in YAML, and --- again; docs/skills.md shows one"


@dataclass(frozen=True, slots=True)
class Value:
    """One value of the head: text, a tuple of values or a mapping of them."""

    data: str | tuple[Value, ...] | Mapping[str, Value] | None
    line: int
    """1-based, in the file; of its key where it has one."""
    first: int
    """1-based; where the value itself begins."""
    last: int
    """1-based; its last line."""
    flow: bool = False
    """Written in brackets or braces."""

    def plain(self) -> Any:
        """Return it without lines: text, lists, dicts."""
        if isinstance(self.data, Mapping):
            return {key: value.plain() for key, value in self.data.items()}
        if isinstance(self.data, tuple):
            return [value.plain() for value in self.data]
        return self.data


Fields: TypeAlias = Mapping[str, Value]


def split_frontmatter(text: str, *, source: str) -> tuple[Fields, str]:
    """Return the fields and the body; raises SkillError that begins with ``file:line``."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != FENCE:
        raise SkillError(
            f"{source}:1: expected --- on the first line, got {_shown(lines[0])}", hint=HINT
        )
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    if end is None:
        raise SkillError(f"{source}:1: the fields have no end: expected a second ---", hint=HINT)
    # An empty line in the place of the fence keeps the lines' numbers.
    head = "\n".join(["", *lines[1:end]])
    return _fields(head, source=source), "\n".join(lines[end + 1 :]).strip("\n")


def _fields(head: str, *, source: str) -> Fields:
    try:
        _bound(head, source=source)
        root = yaml.compose(head, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as err:
        mark = err.problem_mark or err.context_mark
        line = mark.line + 1 if mark else 1
        problem = " ".join(filter(None, (err.context, err.problem)))
        raise SkillError(
            f"{source}:{line}: not YAML: {problem}", hint=_quote_hint(problem)
        ) from err
    except yaml.reader.ReaderError as err:
        line = head.count("\n", 0, err.position) + 1
        raise SkillError(f"{source}:{line}: control character in the text") from err
    if root is None:
        raise SkillError(f"{source}:2: expected fields, got none", hint=HINT)
    if not isinstance(root, yaml.MappingNode):
        raise SkillError(f"{source}:2: expected fields as KEY: VALUE", hint=HINT)
    value = _value(root, source=source)
    return value.data if isinstance(value.data, Mapping) else {}


def _quote_hint(problem: str) -> str:
    return "put a value with a colon in it in quotes" if "mapping values" in problem else HINT


def _bound(head: str, *, source: str) -> None:
    events = yaml.parse(head, Loader=yaml.SafeLoader)
    for count, event in enumerate(itertools.islice(events, MAX_EVENTS + 1)):
        mark = event.start_mark
        line = mark.line + 1 if mark else 1
        if count == MAX_EVENTS:
            raise SkillError(f"{source}:{line}: more than {MAX_EVENTS} values in the fields")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise SkillError(f"{source}:{line}: anchors and aliases are not used here")
        if getattr(event, "tag", None) not in {None, "!"}:
            raise SkillError(f"{source}:{line}: tags are not used here")


def _value(node: yaml.Node, *, source: str, line: int | None = None) -> Value:
    first = node.start_mark.line + 1
    # The end mark of a block stands at what follows it, in the first column of a later line.
    last = max(first, node.end_mark.line + (1 if node.end_mark.column else 0))
    where = line or first
    if isinstance(node, yaml.ScalarNode):
        empty = node.style is None and node.value in {"", "~", "null"}
        return Value(None if empty else node.value, where, first, last)
    flow = bool(getattr(node, "flow_style", False))
    if isinstance(node, yaml.SequenceNode):
        items = tuple(_value(item, source=source) for item in node.value)
        return Value(items, where, first, last, flow)
    found: dict[str, Value] = {}
    for key, child in node.value:
        at = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise SkillError(f"{source}:{at}: expected a name as the key")
        if key.value in found:
            raise SkillError(
                f"{source}:{at}: {key.value} is given twice, first on line {found[key.value].line}"
            )
        found[key.value] = _value(child, source=source, line=at)
    return Value(found, where, first, last, flow)


def _shown(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:57] + "...")
