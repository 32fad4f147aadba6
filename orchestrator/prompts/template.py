"""One prompt template: a head in YAML that declares it, and a body in Jinja2."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.errors import PromptError
from orchestrator.prompts.arguments import SAID, Argument, usage_of

Tier = Literal["shipped", "project", "user"]
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
MOST_HEAD = 8 * 1024
"""Characters of a head."""
_ARGUMENT = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
_KEYWORDS = frozenset(
    {
        "and",
        "else",
        "false",
        "for",
        "if",
        "in",
        "is",
        "not",
        "none",
        "or",
        "true",
        "loop",
        "self",
        SAID,
    }
)
"""Words of the language, and what it has under a name of its own wherever a text is rendered."""


class Head(BaseModel):
    """What a template says of itself."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    description: Annotated[str, Field(max_length=500)] = ""
    internal: bool = False
    """Used by the program, and never offered to a person."""
    arguments: dict[str, Argument] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Template:
    """A template that was read."""

    name: str
    head: Head
    body: str
    source: str
    """``shipped`` or the file."""
    tier: Tier
    above: int = 0
    """Lines of the file before the body's first."""

    @property
    def usage(self) -> str:
        """How it is called."""
        takes_text = not self.head.arguments and self.takes_said
        return usage_of(self.name, self.head.arguments) + (" TEXT" if takes_text else "")

    @property
    def takes_said(self) -> bool:
        """Say whether the body speaks of all that was said."""
        return re.search(rf"{{[{{%][^}}]*\b{SAID}\b", self.body) is not None


class _Loader(yaml.SafeLoader):
    """Without aliases, by which a few lines become millions."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node; an alias is refused."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError
        return super().compose_node(parent, index)


def parse_template(name: str, text: str, *, source: str, tier: Tier) -> Template:
    """Return the template of a file; PromptError, with place and reason, for one that is none."""
    if not NAME.match(name):
        raise PromptError(
            f"{source}: expected a name of small letters, digits, - and _, got {name!r}"
        )
    head_text, body, above = _parts(text, source)
    head = _head(head_text, source)
    for argument in head.arguments:
        if not _ARGUMENT.match(argument) or argument in _KEYWORDS:
            line = _line_of(head_text, ("arguments", argument))
            raise PromptError(f"{source}:{line}: arguments: {argument!r} cannot be a name")
    if not body.strip():
        raise PromptError(f"{source}:{above + 1}: expected a text below the head, got none")
    return Template(name, head, body, source, tier, above)


def _parts(text: str, source: str) -> tuple[str, str, int]:
    """Return head, body, and how many lines stand before the body."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return "", "\n".join(lines), 0
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise PromptError(f"{source}:1: the head that begins with --- does not end with ---")
    head = "\n".join(lines[1:end])
    if len(head) > MOST_HEAD:
        raise PromptError(
            f"{source}:1: expected a head of at most {MOST_HEAD} characters, got more"
        )
    return head, "\n".join(lines[end + 1 :]), end + 1


def _head(text: str, source: str) -> Head:
    try:
        data = yaml.load(text, Loader=_Loader) or {}  # noqa: S506 - a SafeLoader
        if not isinstance(data, Mapping):
            raise PromptError(f"{source}:2: expected a mapping in the head")
        return Head.model_validate(data)
    except yaml.MarkedYAMLError as err:
        line = err.problem_mark.line + 2 if err.problem_mark else 1
        raise PromptError(f"{source}:{line}: not YAML: {err.problem}") from err
    except (yaml.YAMLError, ValueError, RecursionError) as err:
        if isinstance(err, ValidationError):
            first = err.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(step) for step in first["loc"])
            line = _line_of(text, first["loc"])
            message = first["msg"].removeprefix("Value error, ")
            raise PromptError(f"{source}:{line}: {place}: {message}") from err
        raise PromptError(f"{source}:2: not YAML, or with an alias (*name)") from err


def _line_of(head: str, place: Sequence[str | int]) -> int:
    """Return the file's line of the innermost key of a head that ``place`` names."""
    node, line = yaml.compose(head, Loader=_Loader), 0
    for step in place:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        found = next(((key, value) for key, value in pairs if key.value == step), None)
        if found is None:
            break
        line, node = found[0].start_mark.line, found[1]
    return line + 2
