"""The form of an answer in each API's own words; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.config.providers import ApiKind
from orchestrator.model.client import OutputShape

_CHECKED_HERE = frozenset(
    {
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
        "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minProperties",
        "maxProperties", "contains", "minContains", "maxContains", "propertyNames",
    }
)  # fmt: skip
"""Keywords that a strict mode of one provider or another refuses; the answer is checked for them."""


def shape_fields(shape: OutputShape | None, api: ApiKind) -> dict[str, Any]:
    """Return what a request's body says of the form; empty where words alone ask for it."""
    if shape is None or shape.tier == "prompt":
        return {}
    if api == "gemini":
        return _gemini(shape)
    if api == "anthropic":
        # There is no mode of its own for just any object.
        if shape.tier == "json":
            return {}
        schema = {"type": "json_schema", "schema": closed(shape.schema)}
        return {"output_config": {"format": schema}}
    return _openai(shape, api)


def _openai(shape: OutputShape, api: ApiKind) -> dict[str, Any]:
    if shape.tier == "json":
        kind: dict[str, Any] = {"type": "json_object"}
    else:
        strict = shape.tier == "native" and all_required(shape.schema)
        schema = closed(shape.schema) if strict else dict(shape.schema)
        kind = {"name": shape.name, "schema": schema, "strict": strict}
        if api == "openai-responses":
            return {"text": {"format": {"type": "json_schema", **kind}}}
        kind = {"type": "json_schema", "json_schema": kind}
    return {"text": {"format": kind}} if api == "openai-responses" else {"response_format": kind}


def _gemini(shape: OutputShape) -> dict[str, Any]:
    """Return fields of its generation config."""
    fields: dict[str, Any] = {"response_mime_type": "application/json"}
    if shape.tier != "json":
        fields["response_json_schema"] = dict(shape.schema)
    return fields


def closed(schema: Any) -> Any:
    """Return a schema in which objects have no further members, without what is checked here."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {
        name: _named(value) if name in {"properties", "$defs", "definitions"} else closed(value)
        for name, value in schema.items()
        if name not in _CHECKED_HERE
    }
    if "properties" in found or found.get("type") == "object":
        found["additionalProperties"] = False
    return found


def _named(members: Any) -> Any:
    """Close the values alone: a member may be called as a keyword is."""
    if not isinstance(members, Mapping):
        return members
    return {name: closed(value) for name, value in members.items()}


def all_required(schema: Any) -> bool:
    """Say whether every member of every object must be there, as OpenAI's strict mode wants it."""
    if isinstance(schema, list):
        return all(all_required(item) for item in schema)
    if not isinstance(schema, Mapping):
        return True
    members = schema.get("properties")
    if isinstance(members, Mapping):
        if set(members) != set(schema.get("required", ())):
            return False
        if not all(all_required(value) for value in members.values()):
            return False
    elif schema.get("type") == "object":
        # An object of any members is none that a strict mode takes.
        return False
    rest = (value for name, value in schema.items() if name not in {"properties", "required"})
    return all(all_required(value) for value in rest)
