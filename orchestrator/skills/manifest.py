"""A SKILL.md as a skill: the Agent Skills fields, and those of Glovebox's own. Pure.

Whatever a skill says of tools, policy and budget only takes away. Fields that are not known are told
and passed over, so that skills that were written for other agents load here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.errors import SkillError
from orchestrator.schema.ids import Digest
from orchestrator.schema.shares import Shares
from orchestrator.schema.thinking import THINKING_LEVELS, ThinkingLevel
from orchestrator.skills.fields import Reader
from orchestrator.skills.frontmatter import Value, split_frontmatter
from orchestrator.skills.patterns import compile_pattern
from orchestrator.skills.policy_part import SECTIONS, policy_part
from orchestrator.skills.skill import PolicyPart, Skill, Triggers

MAX_SHOWN = 12
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
KNOWN = (
    "name", "description", "license", "compatibility", "metadata", "allowed-tools", "version",
    "author", "tags", "references", "examples", "forbidden-tools", "budget", "triggers",
    "output-format", "policy", "model", "thinking", "disable-model-invocation",
)  # fmt: skip
RESERVED = frozenset({"off", "none", "auto", "list"})
"""Words that ``/skill`` and ``--skill`` take for something else."""
THEIR_TOOLS = {"glob": "find", "multiedit": "edit", "notebookedit": "edit", "shell": "bash"}
"""Names that other agents use, to ours."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a SKILL.md says; digest, scope and files are its folder's to add."""

    skill: Skill
    warnings: tuple[str, ...]
    """``file:line: what``."""


def parse_skill(text: str, *, source: str, folder: str, tools: tuple[str, ...]) -> Parsed:
    """Return the skill; raises SkillError, one ``file:line`` a mistake.

    ``folder`` is its directory's name, which is the skill's too; ``tools`` are those that there are.
    """
    fields, body = split_frontmatter(text, source=source)
    reader = Reader({key.replace("_", "-"): value for key, value in fields.items()}, source)
    reader.only(KNOWN)
    name = _name(reader, folder)
    description = reader.text("description", longest=1024)
    if not description:
        reader.fail(
            reader.line("description"),
            "a skill needs a description: what it does, and when to use it",
        )
    if not body.strip():
        reader.fail(text.count("\n") + 1, "the skill says nothing below its fields")
    shares, max_tokens = _budget(reader)
    skill = Skill(
        name,
        description,
        body,
        scope="user",
        source=source,
        digest=Digest(""),
        version=reader.text("version", longest=64) or _meta(reader).get("version", ""),
        author=reader.text("author", longest=200) or _meta(reader).get("author", ""),
        license=reader.text("license", longest=500),
        compatibility=reader.text("compatibility", longest=500),
        tags=reader.texts("tags", split=True),
        metadata=tuple(_meta(reader).items()),
        references=_references(reader),
        examples=reader.texts("examples"),
        allowed=_tools(reader, "allowed-tools", tools),
        forbidden=_tools(reader, "forbidden-tools", tools) or (),
        shares=shares,
        max_tokens=max_tokens,
        triggers=_triggers(reader),
        output=reader.text("output-format", longest=20_000),
        policy=_policy(reader, text, name),
        model=reader.text("model", longest=200) or None,
        thinking=_thinking(reader),
        by_name_only=_flag(reader, "disable-model-invocation"),
    )
    if reader.errors:
        raise SkillError(
            "\n".join(dict.fromkeys(reader.errors[:MAX_SHOWN])), hint="mend it in that line"
        )
    return Parsed(skill, tuple(dict.fromkeys(reader.warnings)))


def _name(reader: Reader, folder: str) -> str:
    name = reader.text("name", longest=64)
    line = reader.line("name")
    if not name:
        reader.fail(line, f"a skill needs a name: the one of its folder, {folder!r}")
    elif not NAME.fullmatch(name):
        reader.fail(line, f"name: expected small letters, digits and single hyphens, got {name!r}")
    elif name in RESERVED:
        reader.fail(line, f"name: {name!r} means something else after --skill")
    elif name != folder:
        reader.fail(line, f"name: expected the name of its folder, {folder!r}, got {name!r}")
    return name


def _meta(reader: Reader) -> dict[str, str]:
    below = reader.below("metadata")
    if below is None:
        return {}
    return {key: below.text(key, longest=2000) for key in below.fields}


def _references(reader: Reader) -> tuple[str, ...]:
    found = reader.texts("references")
    for path in found:
        if path.startswith("/") or ".." in path.split("/"):
            reader.fail(
                reader.line("references"),
                f"references: expected a file below the skill, got {path!r}",
            )
    return found


def _tools(reader: Reader, key: str, tools: tuple[str, ...]) -> tuple[str, ...] | None:
    if key not in reader.fields:
        return None
    line, found = reader.line(key), list[str]()
    for word in reader.texts(key, split=True):
        bare, bracket, _ = word.partition("(")
        name = THEIR_TOOLS.get(bare.lower(), bare.lower())
        if name not in tools:
            reader.warn(
                line, f"{key}: there is no tool {bare!r} here; there are {', '.join(tools)}"
            )
            continue
        if bracket:
            reader.warn(
                line, f"{key}: {word}: the brackets mean nothing here; policy judges each command"
            )
        found.append(name)
    if key == "allowed-tools" and not found and reader.fields[key].data is not None:
        reader.fail(line, f"{key}: none of these tools is here; there are {', '.join(tools)}")
    return tuple(dict.fromkeys(found))


def _budget(reader: Reader) -> tuple[Shares | None, int | None]:
    budget = reader.below("budget")
    if budget is None:
        return None, None
    budget.fields = {key.replace("_", "-"): value for key, value in budget.fields.items()}
    budget.only(("max-tokens", "shares"), where="budget: ")
    tokens = budget.number("max-tokens", least=1000, most=10**12)
    below = budget.below("shares")
    if below is None:
        return None, None if tokens is None else int(tokens)
    below.fields = {key.replace("-", "_"): value for key, value in below.fields.items()}
    names = ("system", "conversation", "tool_results", "output")
    below.only(names, where="shares: ")
    usual = Shares()
    values = {
        name: below.number(name, least=0.01, most=0.97)
        if name in below.fields
        else getattr(usual, name)
        for name in names
    }
    given = {name: value for name, value in values.items() if value is not None}
    if sum(given.values()) > 1.0001:
        reader.fail(
            budget.line("shares"),
            f"shares: expected at most 1 together, got {sum(given.values()):.2f}",
        )
    return Shares(**given), None if tokens is None else int(tokens)


def _triggers(reader: Reader) -> Triggers:
    below = reader.below("triggers")
    if below is None:
        return Triggers()
    below.only(("words", "patterns", "globs"), where="triggers: ")
    patterns = []
    for text in below.texts("patterns"):
        try:
            patterns.append(compile_pattern(text))
        except ValueError as err:
            reader.fail(_line_of(below.fields["patterns"], text), f"patterns: {text!r}: {err}")
    words = below.texts("words")
    return Triggers(tuple(word.casefold() for word in words), tuple(patterns), below.texts("globs"))


def _line_of(value: Value, text: str) -> int:
    items = value.data if isinstance(value.data, tuple) else ()
    return next((item.line for item in items if item.data == text), value.line)


def _policy(reader: Reader, text: str, name: str) -> PolicyPart | None:
    value = reader.fields.get("policy")
    if value is None:
        return None
    if not isinstance(value.data, Mapping) or value.flow or value.first <= value.line:
        sections = ", ".join(SECTIONS)
        reader.fail(value.line, f"policy: expected {sections} on the lines below, further in")
        return None
    try:
        return policy_part(text, value, name=name)
    except ValueError as err:
        reader.fail(value.line, f"policy: {err}")
        return None


def _thinking(reader: Reader) -> ThinkingLevel | None:
    level = reader.text("thinking", longest=20)
    if level and level not in THINKING_LEVELS:
        reader.fail(
            reader.line("thinking"),
            f"thinking: expected one of {', '.join(THINKING_LEVELS)}, got {level!r}",
        )
    return next((known for known in THINKING_LEVELS if known == level), None)


def _flag(reader: Reader, key: str) -> bool:
    word = reader.text(key, longest=10).lower()
    if word not in {"", "true", "false"}:
        reader.fail(reader.line(key), f"{key}: expected true or false, got {word!r}")
    return word == "true"
