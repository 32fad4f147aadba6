"""Cut the OpenAI OpenAPI document down to the two request bodies our adapters send.

    python tests/cases/prune_openai_schema.py openapi.json > tests/cases/openai-requests.schema.json

The document is ``openapi.json`` of github.com/openai/openai-openapi (MIT). Kept are the schemas of
``CreateChatCompletionRequest`` and ``CreateResponse`` with everything they refer to; dropped are
descriptions and examples. ``oneOf`` becomes ``anyOf``, as the document's unions overlap (a plain
and a full input message both match).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOTS = ("CreateChatCompletionRequest", "CreateResponse")
PREFIX = "#/components/schemas/"
DROPPED = {"description", "example", "examples", "externalDocs", "title", "x-oaiMeta", "discriminator"}


def pruned(value: Any, *, names: bool = False) -> Any:
    """Return a schema without prose; ``names`` is True where the keys are property names."""
    if isinstance(value, list):
        return [pruned(item) for item in value]
    if not isinstance(value, dict):
        return value
    out: dict[str, Any] = {}
    for key, item in value.items():
        if not names and (key in DROPPED or key.startswith("x-")):
            continue
        name = "anyOf" if key == "oneOf" and not names else key
        inner = pruned(item, names=key == "properties" and not names)
        out[name] = out[name] + inner if name in out and name == "anyOf" else inner
    return out


def references(value: Any) -> set[str]:
    """Return the names of all schemas that a schema refers to."""
    if isinstance(value, list):
        return set().union(*(references(item) for item in value)) if value else set()
    if not isinstance(value, dict):
        return set()
    found = set().union(*(references(item) for item in value.values())) if value else set()
    target = value.get("$ref")
    if isinstance(target, str) and target.startswith(PREFIX):
        found.add(target.removeprefix(PREFIX))
    return found


def main() -> None:
    """Write the pruned document."""
    document = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    schemas = document["components"]["schemas"]
    kept: dict[str, Any] = {}
    waiting = list(ROOTS)
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept[name] = pruned(schemas[name])
            waiting.extend(references(kept[name]))
    result = {
        "info": {"source": "openai-openapi", "version": document["info"]["version"]},
        "components": {"schemas": dict(sorted(kept.items()))},
    }
    sys.stdout.write(json.dumps(result, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
