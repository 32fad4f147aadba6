"""The script of a scripted model: a strict YAML file, read once; every error names ``file:line``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from orchestrator.errors import ConfigError
from orchestrator.named_file import read_named

MAX_BYTES = 8 * 1024 * 1024
"""A script larger than this is a mistake, and YAML is slow."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ScriptedPrices(_Strict):
    """US dollars per million tokens; a script costs nothing unless a test wants it to."""

    input: float = Field(default=0.0, ge=0)
    output: float = Field(default=0.0, ge=0)
    cache_read: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)


class ScriptedInfo(_Strict):
    """What the scripted model says of itself."""

    name: str = Field(default="scripted-1", min_length=1)
    context_window: int = Field(default=200_000, gt=0)
    max_output: int = Field(default=8_192, gt=0)
    prices: ScriptedPrices = ScriptedPrices()


class ScriptedCall(_Strict):
    """One tool call: an object, or raw text that may be broken on purpose."""

    name: str
    arguments: dict[str, Any] | None = None
    raw_arguments: str | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> ScriptedCall:
        if self.arguments is not None and self.raw_arguments is not None:
            raise ValueError("expected arguments or raw_arguments, got both")
        return self


class ScriptedUsage(_Strict):
    """Token counts of one turn."""

    input: int = Field(default=0, ge=0)
    output: int = Field(default=0, ge=0)
    cache_read: int = Field(default=0, ge=0)
    cache_write: int = Field(default=0, ge=0)


class ScriptedFailure(_Strict):
    """A failure as a provider would send it; without a status the connection is lost."""

    status: int | None = Field(default=None, ge=100, le=599)
    type: str = ""
    message: str = ""
    retry_after: float | None = Field(default=None, ge=0)


class Expectation(_Strict):
    """What must have happened before a turn."""

    last_tool_output_contains: str | None = None


class ScriptedTurn(_Strict):
    """One answer, or one failure on the way to the next answer."""

    text: str = ""
    tool_calls: list[ScriptedCall] = []
    stop_reason: Literal["end_turn", "tool_use", "max_tokens", "refusal"] | None = None
    usage: ScriptedUsage = ScriptedUsage()
    error: ScriptedFailure | None = None
    expect: Expectation | None = None

    @model_validator(mode="after")
    def _error_alone(self) -> ScriptedTurn:
        if self.error and (self.text or self.tool_calls or self.stop_reason):
            raise ValueError("a turn with error has no text, tool_calls or stop_reason")
        return self


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Texts = Annotated[list[str], BeforeValidator(_as_list)]
"""One text or a list of them."""


class Script(_Strict):
    """A whole script."""

    version: Literal[1]
    model: ScriptedInfo = ScriptedInfo()
    template: bool = False
    pace_s: float = Field(default=0.0, ge=0, le=60)
    """Seconds before each streamed piece."""
    turns: list[ScriptedTurn]
    conclusion: Texts = []
    summaries: Texts = []
    structured: Texts = []


def load_script(path: Path) -> Script:
    """Return the script in a file; raises ConfigError that begins with ``file:line``."""
    try:
        text = read_named(path, limit=MAX_BYTES)
    except OSError as error:
        raise ConfigError(
            f"scripted model: cannot read {path}: {error.strerror}",
            hint="name an existing script: -m scripted:FILE",
        ) from error
    if len(text) > MAX_BYTES:
        raise ConfigError(f"{path}: expected at most {MAX_BYTES} bytes of script, got more")
    return parse_script(text.decode("utf-8", "replace"), str(path))


def parse_script(text: str, source: str) -> Script:
    """Return the script in a text; ``source`` stands in front of the line in errors."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        _refuse_twins(node, source)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{source}:{line}: {error.problem or 'not YAML'}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{source}:1: not YAML") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{source}:1: expected a mapping with version and turns")
    try:
        return Script.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        line = _line_of(node, first["loc"])
        raise ConfigError(
            f"{source}:{line}: {place}: {first['msg'][:1].lower()}{first['msg'][1:]}",
            hint="docs/models.md shows every key of a script",
        ) from error


def _refuse_twins(node: yaml.Node | None, source: str) -> None:
    """Raise when a mapping names a key twice: YAML would drop the first silently."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, yaml.SequenceNode):
            waiting.extend(current.value)
        if not isinstance(current, yaml.MappingNode):
            continue
        seen: set[str] = set()
        for key, value in current.value:
            if key.value in seen:
                raise ConfigError(f"{source}:{key.start_mark.line + 1}: {key.value}: given twice")
            seen.add(str(key.value))
            waiting.append(value)


def _line_of(node: yaml.Node | None, place: tuple[int | str, ...]) -> int:
    """Return the line of the deepest node on the way to ``place``."""
    line = 1
    for step in place:
        found = _child(node, step)
        if found is None:
            break
        line, node = found
    return line


def _child(node: yaml.Node | None, step: int | str) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        item = node.value[step]
        return item.start_mark.line + 1, item
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return key.start_mark.line + 1, value
    return None


def plain(arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return scripted arguments as a dictionary; none given are an empty object."""
    return dict(arguments or {})
