"""The JSON Schema of policy files, with every key's docstring as its description.

Pydantic could collect the docstrings itself, but does so at import; that cost every start 16 ms,
and only this needs them.
"""

from __future__ import annotations

import ast
import inspect
from types import ModuleType
from typing import Any

from orchestrator.policy import document, models_section, network_rules, rules
from orchestrator.policy.document import PolicyDocument


def policy_schema() -> dict[str, Any]:
    """Return the schema, for editors that check YAML while it is typed."""
    schema = PolicyDocument.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    definitions = {**schema["$defs"], "PolicyDocument": schema}
    for module in (document, models_section, rules, network_rules):
        for owner, keys in _docstrings(module).items():
            properties = definitions.get(owner, {}).get("properties", {})
            for key, text in keys.items():
                properties.get(key, {})["description"] = text
    return schema


def _docstrings(module: ModuleType) -> dict[str, dict[str, str]]:
    tree = ast.parse(inspect.getsource(module))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {node.name: _attributes(node) for node in classes}


def _attributes(node: ast.ClassDef) -> dict[str, str]:
    found: dict[str, str] = {}
    for field, after in zip(node.body, node.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            found[field.target.id] = inspect.cleandoc(after.value.value).replace("``", "`")
    return found
