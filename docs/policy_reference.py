"""The page of every key of a policy file, from the schema that files are checked by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.policy.json_schema import policy_schema

_PARTS = {
    "CommandRule": "One entry of `commands.rules`",
    "Flags": "`flags` of a command rule",
    "Examples": "`examples` of a command rule",
    "RiskVote": "A vote on a risk class, where it is two",
    "FileAccess": "`files.read` and `files.write`",
    "FileRule": "One entry of `files.read.rules` or `files.write.rules`",
    "NetworkRule": "One entry of `network.rules`",
    "Injection": "`inject` of a network rule",
    "Service": "One entry of `services`",
    "BoxModels": "`models.box`",
    "Prepare": "`sandbox.prepare`",
}
_UNITS = {"KiB": "size: `512MiB`, `2GiB`", "ms": "duration: `90s`, `10m`, `2h`"}


def policy_reference() -> str:
    """Return the page: the top, each section, then what stands inside of them."""
    schema = policy_schema()
    definitions: dict[str, Any] = schema["$defs"]
    lines = [
        "# Every key of a policy file",
        "",
        "Made from the schema that files are checked by; `glovebox policy schema` prints it for",
        "editors. [Policies](policies.md) explains what the keys mean together and how layers combine.",
        "",
    ]
    lines += _table(schema, definitions)
    for name, value in schema["properties"].items():
        part = _named(value)
        if part in definitions and part not in _PARTS:
            lines += ["", f"## {name}", "", definitions[part].get("description", ""), ""]
            lines += _table(definitions[part], definitions)
    for part, title in _PARTS.items():
        lines += ["", f"## {title}", "", definitions[part].get("description", ""), ""]
        lines += _table(definitions[part], definitions)
    return "\n".join(lines) + "\n"


def _table(owner: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[str]:
    yield "| key | value | |"
    yield "|---|---|---|"
    required = owner.get("required", ())
    for key, value in owner["properties"].items():
        words = _kind(value, definitions) + (", required" if key in required else "")
        text = " ".join(value.get("description", "").split()).replace("|", "\\|")
        yield f"| `{key}` | {words} | {text} |"


def _named(value: Mapping[str, Any]) -> str:
    """Return the definition a key refers to; empty for a plain value."""
    for item in (value, *value.get("anyOf", ())):
        if "$ref" in item:
            return str(item["$ref"]).rpartition("/")[2]
    return ""


def _kind(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Return what may stand there, in a few words."""
    if "anyOf" in value:
        kinds = [_kind(item, definitions) for item in value["anyOf"] if item.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "$ref" in value:
        name = _named(value)
        return "see below" if name in _PARTS else f"[section](#{name.lower()})"
    if "enum" in value:
        return ", ".join(f"`{item}`" for item in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    return _plain_kind(value, definitions)


def _plain_kind(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    kind = value.get("type")
    if kind == "array":
        return f"list of {_kind(value.get('items', {'type': 'string'}), definitions)}"
    if kind == "object":
        inner = value.get("additionalProperties") or next(
            iter(value.get("patternProperties", {}).values()), {"type": "string"}
        )
        return f"names, each with {_kind(inner, definitions)}"
    if kind == "string":
        pattern = value.get("pattern", "")
        return next((words for unit, words in _UNITS.items() if unit in pattern), "text")
    return _number(value) if kind in {"integer", "number"} else "`true`, `false`"


def _number(value: Mapping[str, Any]) -> str:
    low = value.get("minimum", value.get("exclusiveMinimum"))
    high = value.get("maximum", value.get("exclusiveMaximum"))
    words = "whole number" if value["type"] == "integer" else "number"
    above = (
        "" if low is None else (f" above {low}" if "exclusiveMinimum" in value else f" from {low}")
    )
    return words + above + ("" if high is None else f" to {high}")
