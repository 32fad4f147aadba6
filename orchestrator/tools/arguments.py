"""A model's arguments against a tool's fields: one declaration gives the schema and the check."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from orchestrator.tools.tool import ArgumentError

MAX_SHOWN = 80
"""Characters of a wrong value that are repeated to the model."""


class Arguments(BaseModel):
    """Fields of one tool; unknown ones are errors, null means left out."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True
    )

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            return {name: value for name, value in data.items() if value is not None}
        return data


Form = TypeVar("Form", bound=Arguments)


def parse_arguments(form: type[Form], tool: str, arguments: Mapping[str, Any]) -> Form:
    """Return the arguments as ``form``; raises ArgumentError with one line a wrong field."""
    problems = [
        f"- {_dotted(place)}: must not contain {what}" for place, what in _unusable(arguments, ())
    ]
    if not problems:
        try:
            return form.model_validate(dict(arguments))
        except ValidationError as error:
            problems = [_problem(detail, form) for detail in error.errors(include_url=False)]
    fields = ", ".join(_field_words(form))
    lines = "\n".join(dict.fromkeys(problems))
    raise ArgumentError(f"{tool}: wrong arguments, nothing was done\n{lines}\nfields: {fields}")


def input_schema(form: type[Arguments]) -> dict[str, Any]:
    """Return the JSON Schema a model sees: short, since every request carries it."""
    schema = form.model_json_schema(by_alias=True)
    return {"type": "object", **_short(schema, schema.get("$defs", {}))}


def _short(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    short: dict[str, Any] = {}
    if "properties" in schema:
        short["properties"] = {
            name: _short_field(field, definitions) for name, field in schema["properties"].items()
        }
    if "required" in schema:
        short["required"] = schema["required"]
    return short


def _short_field(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in field:
        name = str(field["$ref"]).rsplit("/", 1)[-1]
        return {"type": "object", **_short(definitions[name], definitions)}
    if "anyOf" in field:
        field = {**field, **next(kind for kind in field["anyOf"] if kind.get("type") != "null")}
    short = {key: field[key] for key in ("type", "description") if key in field}
    if "items" in field:
        short["items"] = _short_field(field["items"], definitions)
    return short


def _problem(detail: ErrorDetails, form: type[Arguments]) -> str:
    place = _dotted(detail["loc"])
    kind, value = detail["type"], detail["input"]
    if kind == "missing":
        return f"- {place}: missing"
    if kind == "extra_forbidden":
        return f"- {place}: unknown field{_suggestion(str(detail['loc'][-1]), form)}"
    message = detail["msg"].removeprefix("Value error, ")
    return f"- {place}: {message[0].lower()}{message[1:]}, got {_got(value)}"


def _suggestion(name: str, form: type[Arguments]) -> str:
    close = difflib.get_close_matches(to_camel(name), _names(form), n=1, cutoff=0.5)
    return f", did you mean {close[0]}?" if close else ""


def _names(form: type[BaseModel]) -> list[str]:
    names: list[str] = []
    for name, field in form.model_fields.items():
        names.append(field.alias or name)
        for nested in getattr(field.annotation, "__args__", ()):
            if isinstance(nested, type) and issubclass(nested, BaseModel):
                names += _names(nested)
    return names


def _field_words(form: type[Arguments]) -> list[str]:
    properties = input_schema(form)["properties"]
    required = input_schema(form).get("required", [])
    return [
        f"{name} ({_kind(field)}{', required' if name in required else ''})"
        for name, field in properties.items()
    ]


def _kind(field: Mapping[str, Any]) -> str:
    inner = field.get("items", {}).get("properties")
    return f"array of {{{', '.join(inner)}}}" if inner else str(field["type"])


def _got(value: Any) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}
    kind = names.get(type(value), "object" if isinstance(value, Mapping) else "null")
    text = json.dumps(value, ensure_ascii=False, default=str)
    shown = text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "..."
    return f"{shown} ({kind})"


def _dotted(place: Sequence[int | str]) -> str:
    return ".".join(str(part) for part in place) or "arguments"


def _unusable(
    value: Any, place: tuple[int | str, ...]
) -> Iterator[tuple[Sequence[int | str], str]]:
    """Find what no file, command or digest can hold: NUL outside of content, half surrogates."""
    if isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            yield place, "half of a surrogate pair"
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _unusable(item, (*place, str(name)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unusable(item, (*place, index))
