"""How hard to think, in the words of a Chat Completions server; pure."""

from __future__ import annotations

from typing import Any

from orchestrator.model.catalog import Target
from orchestrator.model.thinking import BUDGETS, clamp
from orchestrator.schema.thinking import ThinkingLevel

LEAST_ANSWER = 1_024
"""Tokens that a budget of thought leaves for the answer."""
OWN_FIELDS = frozenset(
    {
        "chat_template_kwargs", "enable_thinking", "reasoning", "thinking", "thinking_budget",
        "thinking_budget_tokens", "thinking_token_budget",
    }
)  # fmt: skip
"""Fields that OpenAI's own API does not have."""
_EFFORTS = {"off": "none", "max": "xhigh"}
"""Levels that Chat Completions call otherwise."""


def thinking_fields(wanted: ThinkingLevel | None, target: Target) -> dict[str, Any]:
    """Return what a request says of it; nothing where the model cannot be asked."""
    level = clamp(wanted, target.info.thinking)
    if level is None:
        return {}
    effort, on = _EFFORTS.get(level, level), level != "off"
    fields: dict[str, Any]
    match target.dialect.thinking:
        case "effort":
            fields = {"reasoning_effort": effort}
        case "nested_effort":
            fields = {"reasoning": {"effort": effort}}
        case "switch":
            fields = {"thinking": {"type": "enabled" if on else "disabled"}}
        case "switch_effort":
            fields = {"thinking": {"type": "enabled" if on else "disabled"}}
            fields |= {"reasoning_effort": effort} if on else {}
        case "enabled":
            fields = {"reasoning": {"enabled": on}}
        case "enable_thinking":
            fields = {"enable_thinking": on}
        case "template":
            fields = {"chat_template_kwargs": {"enable_thinking": on}}
        case _:
            return {}
    if target.dialect.budget_field and on:
        room = target.info.max_output - LEAST_ANSWER
        fields[target.dialect.budget_field] = max(min(BUDGETS[level], room), 0)
    return fields
